"""Sequential minimal optimisation on a block of a kernel matrix.

`solve_block` minimises ½ βᵀMβ + q·β over low ≤ β ≤ high with Σβ fixed, given the gradient g = Mβ + q. Each step changes
a pair: the coordinate that may grow with the least gradient, and of those that may shrink the one that lowers the
quadratic most (second-order selection; Fan, Chen and Lin 2005). Cost: O(size) per step.
"""

from __future__ import annotations

from typing import Any

from separatrix.jit import loop
from separatrix.loops.rows import dense_add

LEAST_CURVATURE = 1e-12  # relative to the diagonal: of two rows that coincide in feature space


@loop
def solve_block(matrix: Any, gradient: Any, point: Any, low: Any, high: Any, tol: float, max_steps: int) -> int:
    """Change pairs until the optimality conditions hold to within `tol`; return the number of steps."""
    size = point.size
    for step in range(max_steps):
        up, down, least, worst, best = -1, -1, 0.0, 0.0, 0.0
        for k in range(size):
            if point[k] < high[k] and (up < 0 or gradient[k] < least):
                up, least = k, gradient[k]
        if up < 0:
            return step
        worst = least
        for k in range(size):
            gain = gradient[k] - least
            if point[k] > low[k] and gain > 0.0:
                worst = max(worst, gradient[k])
                curvature = matrix[up, up] + matrix[k, k] - 2.0 * matrix[up, k]
                curvature = max(curvature, LEAST_CURVATURE * (matrix[up, up] + matrix[k, k]))
                value = gain * gain / curvature if curvature > 0.0 else gain
                if down < 0 or value > best:
                    down, best = k, value
        if down < 0 or worst - least <= tol:
            return step
        curvature = matrix[up, up] + matrix[down, down] - 2.0 * matrix[up, down]
        curvature = max(curvature, LEAST_CURVATURE * (matrix[up, up] + matrix[down, down]))
        room_up, room_down = high[up] - point[up], point[down] - low[down]
        move = min(room_up, room_down)
        if curvature > 0.0:
            move = min(move, (gradient[down] - least) / curvature)
        point[up] = high[up] if move >= room_up else point[up] + move
        point[down] = low[down] if move >= room_down else point[down] - move
        for k in range(size):
            gradient[k] += move * (matrix[up, k] - matrix[down, k])
    return max_steps


@loop
def add_kernel_rows(table: Any, slots: Any, factors: Any, total: Any) -> None:
    """Add some rows of a table, each times its factor, to `total`."""
    for k in range(slots.size):
        if factors[k] != 0.0:
            dense_add(table[slots[k]], 0, total.size, factors[k], total)
