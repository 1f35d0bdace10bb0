"""The foundation of all other packages: errors, configuration, atomic files, sandboxed calls, downloads."""
