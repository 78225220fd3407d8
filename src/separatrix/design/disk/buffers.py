"""Memory to read blocks into, used again and again: a few pieces for each thread.

A piece is handed out anew only when nothing refers to what it was last used for, so that whoever keeps a part of a
block keeps it unchanged. Cost: the largest piece asked for, two or three times for each thread.
"""

from __future__ import annotations

import sys
import threading
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

FREE = 3  # references to a piece that no one uses: the list's, the loop's and the one that asks
KEPT = 4  # pieces, for each thread; what is kept by others is left to them


class Buffers(threading.local):
    """The pieces of one thread."""

    def __init__(self) -> None:
        self.pieces: list[NDArray[np.uint8]] = []

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array of any content, stored together."""
        size = prod(shape) * dtype.itemsize
        return self._piece(size)[:size].view(dtype).reshape(shape)

    def _piece(self, size: int) -> NDArray[np.uint8]:
        for piece in self.pieces:
            if len(piece) >= size and sys.getrefcount(piece) <= FREE:
                return piece
        made = np.empty(size, dtype=np.uint8)
        self.pieces = [*self.pieces, made][-KEPT:]
        return made
