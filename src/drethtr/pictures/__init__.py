"""Pictures and reports: contact sheets, explained lines, search hits, charts, comparisons."""
