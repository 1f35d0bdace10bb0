"""Transcribed lines: reading and writing them, importing data sets, and checking data.

sample.py              Sample: the image as stored, the text, and where both are from
open.py                one way in: the lines of any file, folder or address
layouts/               how others store lines, a file for each way; layout.py is their interface
parquet.py, growth.py  our files, and the limits for those of others
text_files.py          tables and texts beside images
splits.py              which lines are for training, validation and test
checks/                what is wrong with lines before they cost a training
"""
