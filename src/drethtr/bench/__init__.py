"""`drethtr bench`: how fast the product is, how much memory it takes, and how good its parts are.

commands/                            the benchmarks on the command line
training.py, pages.py, searching.py  speed and memory of training, of whole pages, of queries in a large index
editor.py, host.py                   requests to the editor; what a reading takes outside the network
quality/                             errors that are inserted and found again: by checking, aligning and searching
"""
