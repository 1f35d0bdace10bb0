"""A line image in, its reading out.

recognizer.py    Recognizer: lines are opened, read in pieces, and judged
pieces.py        a line as pieces that the network can take, and their readings as that of the line
batching.py      what is computed together, as memory allows
protocol.py      the protocol of a network: encode an image, score texts
backends.py      which backend computes it: onnx/ on a CPU, `drethtr.network` in torch
model/           a model file: architecture as data, weights, adapters
decoding/        from the network's numbers to a text; `strategies.py` has the map
confidence/      evidence for each character, its calibration, flags, expected error rates
reading.py       Reading: what comes back
posteriors.py    what else a line may say, for the index of `drethtr.search`
alternatives.py  what a word may be instead, for the editor
"""
