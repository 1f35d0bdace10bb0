"""Pictures for people: contact sheets of lines."""
