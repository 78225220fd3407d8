"""The only home of storage: matrices as row blocks, with a virtual intercept column and a count of passes."""

from separatrix.design import kernels
from separatrix.design.array import DenseDesign, SparseDesign
from separatrix.design.base import Block, Design, Expansion, add_each, block_hessian
from separatrix.design.build import INTERCEPT, column_names, largest_entry, make_design, map_rows, row_radius
from separatrix.design.mapped import MappedDesign, MappedRows
from separatrix.design.moments import Moments, moments, residual_sums, triangle
from separatrix.design.row_source import RowSource, array_of, is_dask, rows_of, rows_where

__all__ = [
    "INTERCEPT",
    "Block",
    "DenseDesign",
    "Design",
    "Expansion",
    "MappedDesign",
    "MappedRows",
    "Moments",
    "RowSource",
    "SparseDesign",
    "add_each",
    "array_of",
    "block_hessian",
    "column_names",
    "is_dask",
    "kernels",
    "largest_entry",
    "make_design",
    "map_rows",
    "moments",
    "residual_sums",
    "row_radius",
    "rows_of",
    "rows_where",
    "triangle",
]
