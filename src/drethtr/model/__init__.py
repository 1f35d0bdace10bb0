"""The network. Read decay, retention, attention, mixer, ctc, network, in this order; it knows no characters and no files."""
