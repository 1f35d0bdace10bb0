"""Pictures for people: contact sheets, explained lines, charts of figures."""
