"""The vectors of momentum: one walk over them for all inner products, one for the step.

Three movements of p coefficients are kept as the rows of an array; rows not yet used are 0. Cost: a read of each.
"""

from __future__ import annotations

from typing import Any

from separatrix.jit import loop, reduction

MEMORY = 3  # movements: written out below, so that a compiler can add several terms at once


@reduction
def measure_movements(coef: Any, before: Any, movements: Any, slot: int, products: Any) -> None:
    """Write coef − before into a slot; write the inner products of all movements, and coef, with each other."""
    newest = movements[slot]
    for j in range(coef.size):
        newest[j] = coef[j] - before[j]
    first, second, third = movements[0], movements[1], movements[2]
    aa, ab, ac, bb, bc, cc, aw, bw, cw, ww = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(coef.size):
        a, b, c, w = first[j], second[j], third[j], coef[j]
        aa += a * a
        ab += a * b
        ac += a * c
        bb += b * b
        bc += b * c
        cc += c * c
        aw += a * w
        bw += b * w
        cw += c * w
        ww += w * w
    products[0, 0], products[1, 1], products[2, 2] = aa, bb, cc
    products[0, 1], products[1, 0] = ab, ab
    products[0, 2], products[2, 0] = ac, ac
    products[1, 2], products[2, 1] = bc, bc
    products[0, 3], products[1, 3], products[2, 3], products[3, 3] = aw, bw, cw, ww


@loop
def take_step(factors: Any, extra: Any, length: float, movements: Any, slot: int, coef: Any) -> None:
    """Add to coef, and to the movement in a slot, part of a step: movements times factors, and what is extra."""
    a, b, c = length * factors[0], length * factors[1], length * factors[2]
    first, second, third, newest = movements[0], movements[1], movements[2], movements[slot]
    for j in range(coef.size):
        step = a * first[j] + b * second[j] + c * third[j]
        if extra.size:
            step += length * extra[j]
        newest[j] += step
        coef[j] += step
