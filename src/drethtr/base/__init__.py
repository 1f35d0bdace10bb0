"""Foundations of all packages: errors, configs, atomic files."""
