"""From a file or a demo to typed columns, and from those to features and target."""

from separatrix.tables.demos import DEMO_PREFIX, DEMOS, Demo, demo_table, load_demo
from separatrix.tables.features import feature_columns
from separatrix.tables.read import read_table
from separatrix.tables.table import Table
from separatrix.tables.target import target_column

__all__ = [
    "DEMOS",
    "DEMO_PREFIX",
    "Demo",
    "Table",
    "demo_table",
    "feature_columns",
    "load_demo",
    "read_table",
    "target_column",
]
