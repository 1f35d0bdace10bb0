"""A line image in, its reading out.

recognizer.py    Recognizer: lines are opened, read in pieces, and judged
pieces.py        a line as pieces that the network can take, and their readings as that of the line
batching.py      which lines are computed together, as memory allows
protocol.py      the protocol of a network: encode an image, score texts
backends.py      which backend computes it: onnx/ on a CPU, `drethtr.network` in torch
model/           a model file: architecture as data, weights, adapters
decoding/        from the network's output to a text; `strategies.py` lists the decoders
confidence/      evidence for each character, its calibration, flags, expected error rates
reading.py       Reading: the result
posteriors.py    the probabilities of other characters, for the index of `drethtr.search`
alternatives.py  other readings of a word, for the editor
"""
