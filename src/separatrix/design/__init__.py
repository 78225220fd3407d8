"""The only home of storage: matrices as row blocks, with a virtual intercept column and a count of passes."""

from separatrix.design.array import DenseDesign, SparseDesign
from separatrix.design.base import Block, Design, Expansion, add_each, block_hessian
from separatrix.design.build import INTERCEPT, column_names, largest_entry, make_design, row_radius

__all__ = [
    "INTERCEPT",
    "Block",
    "DenseDesign",
    "Design",
    "Expansion",
    "SparseDesign",
    "add_each",
    "block_hessian",
    "column_names",
    "largest_entry",
    "make_design",
    "row_radius",
]
