"""Pictures: contact sheets, explained lines, charts of metrics."""
