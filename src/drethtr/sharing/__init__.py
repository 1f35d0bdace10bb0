"""Share models: check their cards, write model folders with a README, and use the Hugging Face Hub."""
