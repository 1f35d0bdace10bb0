"""Readings over HTTP."""
