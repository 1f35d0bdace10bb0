"""Networks computed by onnxruntime: graphs are built from a config and its weights, without torch or `onnx`.

network.py              OnnxNetwork, the protocol's functions, each of which runs a graph
image.py, backbones.py  the graphs of the image side
text.py                 those of the text side: a tree of texts, one more token, the rescorer
layers.py, int8.py      the layers of all of them, and their products in 8 bits
graph.py, protobuf.py   operators on named tensors, and ONNX's file format
session.py              onnxruntime
"""
