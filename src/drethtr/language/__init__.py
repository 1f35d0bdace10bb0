"""N-gram language models of one or several languages."""
