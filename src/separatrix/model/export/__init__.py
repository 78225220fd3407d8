"""Models in other languages: SQL, Python source, ONNX. Each equals `Model.predict`."""
