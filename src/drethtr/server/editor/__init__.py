"""A folder that is worked in, over HTTP: pages, lines, pictures, jobs, events."""
