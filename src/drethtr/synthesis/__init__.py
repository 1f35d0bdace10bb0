"""Synthetic lines and pages, recombined words, and data augmentation.

corpus.py, fragments.py  the text of a line: passages of files; dates, sums and names
fonts.py, writing.py     its ink: a font, checked for what it really draws, with the irregularity of a hand
paper.py, synthetic.py   ink on paper; all of it together, by configuration, seed and number
page_kinds.py            the writing on pages, placed by page_sheet.py, bent by photograph.py, called by pages.py
recombination.py         new lines from the words of a page
augment.py               pipelines of random steps (random_step.py), of shape (distort.py) and of tone (degrade.py)
"""
