"""The network, which knows no characters and no files: read decay, retention, attention, mixer, ctc, network."""
