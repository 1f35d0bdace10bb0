"""Share models: check and extend their cards, write model folders with a README, use the Hugging Face Hub."""
