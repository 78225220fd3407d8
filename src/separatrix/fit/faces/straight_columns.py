"""Columns that floats take for dependent although they are not: what a relation leaves of them, exactly, instead.

A column c that Σ rⱼ xⱼ nearly reproduces, with simple rⱼ, is replaced by the difference, if all of its entries are
floats; weights and multipliers carry over, for the change of columns is invertible. Fails, with None, where a
difference is not a float or all are 0. Cost: rationals, one a row and a term.
"""

from __future__ import annotations

from fractions import Fraction

from separatrix.arrays import Floats
from separatrix.certificates.rays import Relation
from separatrix.fit.faces.relations import Whitened, near_relations

MOST_ROWS = 5000


def straightened(rays: Floats, white: Whitened) -> tuple[Floats, tuple[Relation, ...]] | None:
    """Return rays with their dependent columns replaced by differences, and the relations that these are."""
    if len(rays) > MOST_ROWS:
        return None
    relations = tuple(near_relations(rays, white))
    changed = rays.copy()
    for relation in relations:
        column = next(reversed(relation))
        difference = _difference(rays, relation)
        if difference is None:
            return None
        changed[:, column] = difference
    return (changed, relations) if changed[:, [next(reversed(r)) for r in relations]].any() else None


def original_weights(weights: list[Fraction], relations: tuple[Relation, ...]) -> list[Fraction]:
    """Return the weights of the original columns that give the same products."""
    replaced = {next(reversed(relation)): relation for relation in relations}
    original = [Fraction(0) if j in replaced else weight for j, weight in enumerate(weights)]
    for column, relation in replaced.items():
        for j, coefficient in relation.items():
            original[j] += weights[column] * coefficient
    return original


def _difference(rays: Floats, relation: Relation) -> list[float] | None:
    columns, coefficients = list(relation), list(relation.values())
    found = []
    for row in rays[:, columns].tolist():
        total = sum((Fraction(x) * c for x, c in zip(row, coefficients, strict=True) if x), Fraction(0))
        found.append(float(total))
        if Fraction(found[-1]) != total:
            return None
    return found
