"""Share models: check and extend their cards, write model folders with a README, use the Hugging Face Hub.

card.py    required entries of a card, and adding entries
readme.py  the card as the README of a repository
folder.py  a model with its README, in a folder or on the Hub
"""
