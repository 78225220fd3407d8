"""Models in other languages: SQL, Python source, ONNX. Each equals `Model.predict`."""

from separatrix.model.export.onnx_graph import to_onnx
from separatrix.model.export.python_source import to_python
from separatrix.model.export.sql import to_sql

__all__ = ["to_onnx", "to_python", "to_sql"]
