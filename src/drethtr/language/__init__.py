"""What is likely to be written: counts of characters after others, from texts."""
