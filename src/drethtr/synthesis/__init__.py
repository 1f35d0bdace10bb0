"""Lines that nobody wrote: rendered text, recombined words, and random changes of an image."""
