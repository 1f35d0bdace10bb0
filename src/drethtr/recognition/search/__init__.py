"""From image memory to token ids: search, and the strategies a user chooses from."""
