"""Separability of labelled rows: complete separation, quasi-complete separation, or overlap, with a proof.

With z the rays of the rows (`certificates.rays`), the certificate has a *direction* w with z·w ≥ 0 on all rays, and a
*proof* that the rays with z·w = 0 overlap (`certificates.overlap`): no direction separates any of them. These are the
rays *left*. Theorem (Albert and Anderson 1984, Silvapulle 1981):

    separable  no ray is left: w has every row on its own side. The likelihood has no maximum.
    overlap    every ray is left: z·v ≥ 0 on all rays implies z·v = 0 on all. The likelihood attains its maximum. The
               curvature of the likelihood may prove that too.
    quasi      some rays are left: the likelihood has no maximum; it increases along w. With very many columns,
               *clashes* (`PairOverlap`) may prove overlap of only some of the rays left.
    undecided  neither was proved; `reason` says why.

`verify` re-checks the exact signs of all products and the proof of overlap. Cost: one pass, the rays near 0 exactly,
and the proof.

After a feature map (`data.map`), the claim is about the floats that the map gives. Maps made of single float operations
give the same floats everywhere; maps that are not `exact` may differ in the last digits between machines, and the proof
is then checked on the floats of the machine that verifies. Such a certificate may also have the widest margin there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate, Check, Stated, register, unwritten
from separatrix.certificates.data import MatchedRows, Whole, match
from separatrix.certificates.divergence import Divergence
from separatrix.certificates.enclosures import OUTWARD, shown_down, shown_up
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.overlap import CurvatureProof, OverlapProof, PairOverlap
from separatrix.certificates.rays import Rays, Relation
from separatrix.errors import DataError, counted

VERDICTS = {
    "separable": "the classes are completely separated",
    "quasi": "the classes are quasi-completely separated",
    "overlap": "the classes overlap",
    "undecided": "not decided",
}


@register
@dataclass(frozen=True, kw_only=True)
class SeparabilityCertificate(Certificate):
    """A verdict on the separability of labelled rows, with its proof.

    `weights`, the direction, has the intercept first and, for more than two classes, the scores of every class but the
    first, class by class. `n_left` is the number of rays left: rows or, with K classes, pairs of a row and another
    class. `clashes`, in place of a proof, show that some of the rays left cannot be separated; if they are as many as
    `n_left`, none can. `widest` is the widest margin after a map. Undecided, `reason` says why.
    """

    kind: ClassVar[str] = "separability"
    n_left: Stated[Whole]
    undecided: Stated[bool] = False
    weights: tuple[Fraction, ...] | None = None
    proof: OverlapProof | CurvatureProof | None = None
    divergence: Divergence | None = None
    clashes: tuple[PairOverlap, ...] = ()
    widest: MarginCertificate | None = None
    reason: str = unwritten("")

    def __post_init__(self) -> None:
        width = self.data.n_scores * max(1, self.data.n_classes - 1)
        self.data.require_labels("two", "several", "rest")
        if not self.undecided and self.weights is None and self.proof is None:
            raise ValueError("it has neither a direction nor a proof of overlap")
        if not self.undecided and (self.verdict == "separable") != (self.n_left == 0):
            raise ValueError(f"{self.n_left} rays are left, where the verdict is {self.verdict}")
        if self.weights is not None and len(self.weights) != width:
            raise ValueError(f"the direction has {len(self.weights)} numbers; {width} are needed")
        if self.divergence is not None and (self.weights is None or not self.divergence.fits(width)):
            raise ValueError(f"the proof of divergence does not fit {width} columns")
        if self.clashes and (self.weights is None or self.proof is not None or self.divergence is not None):
            raise ValueError("clashes take the place of a proof of overlap")
        if isinstance(self.proof, CurvatureProof):
            self._require_overlap(self.proof)
        if self.widest is not None and (self.data.map is None or self.verdict != "separable"):
            raise ValueError("a margin is that of separable rows after a map")

    def _require_overlap(self, proof: CurvatureProof) -> None:
        """Raise a ValueError unless a proof by the curvature, which is about all rays, fits the certificate."""
        if self.weights is not None:
            raise ValueError("there is a direction, where the curvature proves that all rows overlap")
        rays = self.data.n_counted * (self.data.n_classes - 1)
        if self.n_left != rays:
            raise ValueError(f"{self.n_left} rays are left, where the curvature is that of all {rays}")
        proof.require_fit(self.data)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, of two the positive one last; None stands for the rest."""
        return (None, *self.data.labels) if self.data.task == "rest" else self.data.labels

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, the intercept first."""
        return self.data.names

    @property
    def verdict(self) -> str:
        """'separable', 'quasi', 'overlap' or 'undecided'."""
        if self.undecided:
            return "undecided"
        if self.proof is None:
            return "quasi" if self.clashes else "separable"
        return "overlap" if self.weights is None else "quasi"

    @property
    def claim(self) -> str:
        claim = self._claim()
        if self.data.map is None:
            return f"{self.data.without}: {claim}" if self.data.without else claim
        values = "in floats" if self.data.map.exact else "in floats computed here"
        margin = ""
        if self.widest is not None and self.widest.verdict == "widest margin":
            margin = f"; the widest margin there is {self.widest.lower:.6g}"
        elif self.widest is not None:
            least, most = shown_down(self.widest.lower, 6), shown_up(self.widest.upper, 6)
            margin = f"; the widest margin there is {least} or more, at most {most}"
        return f"after the map ({self.data.map.words}, {values}): {claim}{margin}"

    def _claim(self) -> str:
        verdict = VERDICTS[self.verdict]
        if self.undecided:
            return verdict
        if self.data.n_classes == 1:
            return f"there is only one class, {self.data.labels[0]!r}: {verdict}"
        if self.verdict == "overlap":
            support = "" if self.proof is None else f" ({self.proof.words})"
            return f"{verdict}: not linearly separable, even in part{support}; the likelihood has a maximum"
        if self.verdict == "separable":
            return f"{verdict}: every row is on the side of its class; the likelihood has no maximum"
        left = counted(self.n_left, "row" if self.data.n_classes == 2 else "row-and-class pair")
        some = "" if self.n_overlap == self.n_left else f"at least {self.n_overlap:,} of "
        which = f"all but {left} are perfectly separated, and {some}the rest overlap"
        return f"{verdict}: {which}; the likelihood has no maximum"

    @property
    def n_overlap(self) -> int:
        """The number of rays that are proved to be separated by no direction: `n_left`, or those in clashes."""
        if self.undecided:
            return 0
        return sum(len(clash.proof.places) for clash in self.clashes) if self.clashes else self.n_left

    @property
    def margin(self) -> float | None:
        """The certified margin after a map; None if there is none."""
        return None if self.widest is None else self.widest.lower

    @property
    def direction(self) -> Floats | None:
        """The direction in floats, its largest entry 1, (p,) with the intercept first or (K, p); None if absent."""
        if self.weights is None:
            return None
        largest = max(abs(value) for value in self.weights)
        flat = np.array([float(value / largest) for value in self.weights])
        if self.data.n_classes <= 2:
            return flat
        return np.vstack([np.zeros(self.data.n_scores), flat.reshape(self.data.n_classes - 1, -1)])

    @property
    def coefficient_status(self) -> dict[str, str]:
        """By name: 'finite', '+inf', '-inf', 'not estimable' (no sign of its own), 'aliased' or 'diverges'.

        With more than two classes, names are "class: column", in scores relative to the first class. Empty if nothing
        was worked out.
        """
        if self.weights is None and self.proof is not None:
            aliased = {column for relation in self.relations for column, value in relation.items() if value}
            width = self.data.n_scores * max(1, self.data.n_classes - 1)
            return self.by_name(["aliased" if column in aliased else "finite" for column in range(width)])
        if self.weights is None or self.divergence is None:
            return {}
        relations = None if self.proof is None else self.relations
        return self.by_name(self.divergence.statuses(self.weights, relations))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Vectors that vanish on every ray left, in the layout of `weights`; all others are combinations of them."""
        if isinstance(self.proof, CurvatureProof):
            return self.proof.ray_relations
        return () if self.proof is None else self.proof.relations

    @property
    def divergence_dim(self) -> int | None:
        """The number of independent directions along which the likelihood increases; None if not worked out."""
        if self.verdict == "overlap":
            return 0
        if self.divergence is None:
            return None
        return len(self.divergence.spanning) - (len(self.proof.columns) if isinstance(self.proof, OverlapProof) else 0)

    def by_name(self, values: Sequence[str]) -> dict[str, str]:
        """Return values by the name of the coefficient that each is of, in the layout of `weights`."""
        names = self.names
        if self.data.n_classes > 2:
            names = tuple(f"{label}: {name}" for label in self.data.labels[1:] for name in self.names)
        return dict(zip(names, values, strict=True))

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        if self.undecided:
            return
        if isinstance(self.proof, CurvatureProof):
            yield from self.proof.checks(rows)
            return
        rays = self._rays(rows)
        left, made = self._check_direction(rays)
        yield from made
        if left is None:
            return
        yield Check("left", len(left) == self.n_left, f"{len(left):,} rows are not separated; {self.n_left:,} claimed")
        if self.clashes:
            made = self._clash_checks(rays, left)
        elif self.proof is None:
            detail = f"row {rays.number_of(left[0])} is not separated" if len(left) else "every row is separated"
            made = [Check("separable", not len(left), detail)]
        else:
            made = self.proof.checks(rays, left)
        yield from made
        if self.divergence is not None and all(check.holds for check in made):
            relations = None if self.proof is None else self.relations
            yield from self.divergence.checks(rays, np.arange(rays.count), relations)
        if self.widest is not None:
            yield from self.widest.checks(rows)

    def _clash_checks(self, rays: Rays, left: Indices) -> list[Check]:
        """Check each clash, and that no ray is in two."""
        checks = [check for clash in self.clashes for check in clash.checks(rays, left)]
        if not all(check.holds for check in checks):
            return checks
        places = np.concatenate([clash.places(rays) for clash in self.clashes])
        distinct = len(np.unique(places)) == len(places)
        return [*checks, Check("clashes", distinct, f"{len(places):,} of the other rows cannot be separated")]

    def left_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Indices:
        """Return the rows (0-based) that no direction separates; with K classes, the rows of the pairs left.

        If the clashes have fewer rays than `n_left`, another direction might separate some of these rows.
        """
        rows = match(self.data, X, y, sample_weight)
        rays = self._rays(rows)
        left, checks = self._check_direction(rays)
        if left is None:
            raise DataError(f"these are not the data of the certificate: {checks[-1].detail}")
        return rows.original(np.unique(rays.rows_of(left)))

    def least_margin(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[float, Indices]:
        """Return the least of z·w / ‖w‖ over the rays that the direction separates, and its rows."""
        if self.weights is None:
            raise DataError("the classes overlap: there is no direction, and so no margin")
        rows = match(self.data, X, y, sample_weight)
        rays = self._rays(rows)
        places = np.arange(rays.count)
        products = rays.products(rays.from_exact(self.weights))[0]
        products[rays.signs(self.weights, places) == 0] = np.inf
        least = float(products.min())
        near = places[products <= least * OUTWARD]  # equal up to rounding
        norm = float(np.linalg.norm(rays.from_exact(self.weights)))
        return least / norm, rows.original(np.unique(rays.rows_of(near)))

    def _check_direction(self, rays: Rays) -> tuple[Indices | None, list[Check]]:
        """Return the rays with z·w = 0, or None if the direction is below 0 on a ray or separates none."""
        places = np.arange(rays.count)
        if self.weights is None:
            return places, []
        signs = rays.signs(self.weights, places)
        if (signs < 0).any():
            row = rays.number_of(places[signs < 0][0])
            return None, [Check("direction", False, f"row {row} is on the wrong side")]
        if not (signs > 0).any():
            return None, [Check("direction", False, "it separates no row at all")]
        separated = int((signs > 0).sum())
        detail = f"{separated:,} rows are strictly on the side of their class, none on the wrong side"
        return places[signs == 0], [Check("direction", True, detail)]

    def _rays(self, rows: MatchedRows) -> Rays:
        return Rays(rows.finite_design, rows.codes, self.data.n_classes, rows.numbers)
