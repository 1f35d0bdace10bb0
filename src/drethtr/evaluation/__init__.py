"""Accuracy metrics, comparison of models, and calibration.

reading.py                   select lines, and read them: ScoredLine
metrics.py                   CER and WER, with intervals of a bootstrap over pages
evaluate.py                  a recognizer on transcribed lines
compare.py                   two systems on the same lines
layout.py, whole_pages.py    found lines compared with marked ones; texts of whole pages; the cost of layout errors
confidence.py                whether confidences are probabilities
calibrate.py                 the calibration of a model, part by part; choose_strategy.py chooses its decoder
predict.py                   error rates of lines without texts, which untranscribed.py finds
misaligned.py, word_gaps.py  lines with the text of another line; gaps between words
"""
