"""Penalties: what large coefficients cost; `ALL` holds one example of each."""

from __future__ import annotations

from separatrix.penalties.base import Penalty
from separatrix.penalties.elastic_net import ElasticNet
from separatrix.penalties.l1 import L1
from separatrix.penalties.l2 import L2
from separatrix.penalties.none import NoPenalty

__all__ = ["ALL", "L1", "L2", "ElasticNet", "NoPenalty", "Penalty", "make_penalty"]

ALL: tuple[Penalty, ...] = (NoPenalty(), L2(0.7), L1(0.7), ElasticNet(0.7, l1_ratio=0.3))


def make_penalty(strength: float, l1_ratio: float) -> Penalty:
    """Return strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²) as the simplest penalty that it is.

    >>> make_penalty(0.5, 0.0), make_penalty(0.0, 0.3)
    (L2(strength=0.5), NoPenalty())
    """
    mixed = ElasticNet(strength, l1_ratio)
    if mixed.strength == 0.0:
        return NoPenalty()
    if mixed.l1_ratio == 0.0:
        return L2(mixed.strength)
    if mixed.l1_ratio == 1.0:
        return L1(mixed.strength)
    return mixed
