"""What every room stands on: errors, configs, atomic files."""
