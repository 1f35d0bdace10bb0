"""From image memory to token ids: the decoders, and the search of each."""
