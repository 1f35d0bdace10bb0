"""Commands of the research room."""
