"""From a file, a frame or a demo to typed columns, and from those to features and target."""

from separatrix.tables.column_type import ColumnType
from separatrix.tables.demos import DEMO_PREFIX, DEMOS, Demo, demo_table, load_demo
from separatrix.tables.features import feature_columns
from separatrix.tables.frames import from_frame
from separatrix.tables.libsvm import SparseTable, is_libsvm, read_libsvm
from separatrix.tables.read import open_table, read_table
from separatrix.tables.source import TableSource
from separatrix.tables.table import KINDS, Column, ColumnKind, Table, category_column
from separatrix.tables.target import target_column

__all__ = [
    "DEMOS",
    "DEMO_PREFIX",
    "KINDS",
    "Column",
    "ColumnKind",
    "ColumnType",
    "Demo",
    "SparseTable",
    "Table",
    "TableSource",
    "category_column",
    "demo_table",
    "feature_columns",
    "from_frame",
    "is_libsvm",
    "load_demo",
    "open_table",
    "read_libsvm",
    "read_table",
    "target_column",
]
