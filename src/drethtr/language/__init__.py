"""N-gram language models of one or several languages.

ngrams.py     one model: a backoff over n-grams, a few bytes for each
learn.py      builds it from texts, or from other models
languages.py  several: the language of each line, and the choice of the user
"""
