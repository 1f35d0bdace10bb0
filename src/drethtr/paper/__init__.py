"""The paper beside the product: its tables, its rival systems, the authors' weights and decoding.

tables/                      the tables, row by row: training, measurement, published figures
speed/                       time and memory, compared with rival systems
variants.py, network/        the networks it compares with, as data and in torch
byte_pairs.py, starts.py     their tokens, and the weights they start from
published_decoding.py        the scores of the released code
authors.py, weights_file.py  the authors' weights as model files
commands.py, plugin.py       the commands and the plug-in for the product
"""
