"""N-gram language models of one or several languages.

ngrams.py     one model: backoff n-grams, a few bytes each
learn.py      builds it from texts, or from other models
languages.py  several models: the language of each line, and the user's choice
"""
