"""`drethtr bench`: the speed and memory of the product, and the quality of its parts.

commands/                            the benchmarks on the command line
training.py, pages.py, searching.py  speed and memory of training, of whole pages, of queries in a large index
editor.py, host.py                   requests to the editor; the time of reading outside the network
quality/                             quality of checking, aligning and searching, measured by inserting errors and
                                     finding them
"""
