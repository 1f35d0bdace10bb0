"""Networks computed by onnxruntime: graphs are built from a config and its weights, without torch or `onnx`.

network.py runs the graphs of image.py, with backbones.py, and of text.py. Their layers are in layers.py and int8.py,
operators and ONNX's format in graph.py and protobuf.py, onnxruntime in session.py.
"""
