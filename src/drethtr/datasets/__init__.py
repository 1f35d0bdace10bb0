"""Transcribed lines: reading and writing them, importing data sets, and checking data.

sample.py              Sample: the image as stored, its text, and their origin
open.py                open the lines of any file, folder or URL
layouts/               how other programs and data sets store lines, one module each; layout.py is the interface
parquet.py, growth.py  our Parquet files, and limits for untrusted ones
text_files.py          tables and texts beside images
splits.py              which lines are for training, validation and test
checks/                find problems of lines before they spoil a training
"""
