"""Models that others can use: what their cards must tell, the card as a page, folders and the Hugging Face hub."""
