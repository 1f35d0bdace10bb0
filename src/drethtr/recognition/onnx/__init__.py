"""Networks computed by onnxruntime: graphs are built from a config and its weights, without torch or `onnx`."""
