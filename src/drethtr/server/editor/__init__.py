"""The HTTP API of the editor: pages, lines, images, jobs, events."""
