"""Models exported to SQL, Python source and ONNX; each gives the predictions of `Model.predict`."""
