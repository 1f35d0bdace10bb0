"""Share models: check and extend their cards, write model folders with a README, use the Hugging Face Hub.

card.py    what a card has to say, and entries that are added to it
readme.py  the same as the README of a repository
folder.py  a model with its README, in a folder or on the Hub
"""
