"""Separability of labelled rows: complete separation, quasi-complete separation, or overlap, with a proof.

With z the rays of the rows (`certificates.rays`), the certificate has a *direction* w with z·w ≥ 0 on all rays, and a
*proof* that the rays with z·w = 0 overlap (`certificates.overlap`): no direction separates any of them. These are the
rays *left*. Theorem (Albert and Anderson 1984, Silvapulle 1981):

    separable  no ray is left: w has every row on its own side. The likelihood has no maximum.
    overlap    every ray is left: z·v ≥ 0 on all rays implies z·v = 0 on all. The likelihood attains its maximum.
    quasi      some rays are left: the likelihood has no maximum; it increases along w. With very many columns,
               *clashes* (`PairOverlap`) may prove overlap of only some of the rays left.
    undecided  neither was proved; `reason` says why.

`verify` re-checks the exact signs of all products and the proof of overlap. Cost: one pass, the rays near 0 exactly,
and the proof.

`MappedCertificate` is a verdict after a feature map. It has the map and the certificate of the mapped rows; `verify`
takes the original rows and maps them again. The claim is about the floats that the map gives. Maps made of single float
operations give the same floats everywhere; maps that are not `exact` may differ in the last digits between machines,
and the proof is then checked on the floats of the machine that verifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate, Check, Verification, certificate_from_dict, register
from separatrix.certificates.data import class_codes, in_order, weighted_rows
from separatrix.certificates.divergence import Divergence
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.overlap import OverlapProof, PairOverlap, from_number, to_number
from separatrix.certificates.rays import Rays
from separatrix.codec import Fields
from separatrix.design.build import largest_entry, make_design, map_rows
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import FeatureMap, map_from_dict
from separatrix.errors import DataError, counted

TIED = 1e-9  # relative: margins this near to the least count as equal to it
VERDICTS = {
    "separable": "the classes are completely separated",
    "quasi": "the classes are quasi-completely separated",
    "overlap": "the classes overlap",
    "undecided": "not decided",
}


@register
@dataclass(frozen=True)
class SeparabilityCertificate(Certificate):
    """A verdict on the separability of labelled rows, with its proof.

    `classes` are the labels; of two, the last is the positive one. `weights`, the direction, has the intercept first
    and, for more than two classes, the scores of every class but the first, class by class. `n_left` is the number of
    rays left: rows or, with K classes, pairs of a row and another class. `clashes`, in place of a proof, show that some
    of the rays left cannot be separated; if they are as many as `n_left`, none can.
    """

    kind: ClassVar[str] = "separability"
    classes: tuple[Any, ...]
    names: tuple[str, ...]
    fit_intercept: bool
    n_rows: int
    n_left: int
    weights: tuple[Fraction, ...] | None = None
    proof: OverlapProof | None = None
    divergence: Divergence | None = None
    weighted: bool = False
    reason: str | None = None
    clashes: tuple[PairOverlap, ...] = ()

    @property
    def verdict(self) -> str:
        """'separable', 'quasi', 'overlap' or 'undecided'."""
        if self.reason is not None:
            return "undecided"
        if self.proof is None:
            return "quasi" if self.clashes else "separable"
        return "overlap" if self.weights is None else "quasi"

    @property
    def claim(self) -> str:
        if self.reason is not None:
            return f"not decided: {self.reason}"
        if len(self.classes) == 1:
            return f"there is only one class, {self.classes[0]!r}: {VERDICTS[self.verdict]}"
        verdict = VERDICTS[self.verdict]
        if self.verdict == "overlap":
            support = "" if self.proof is None else f", by {counted(len(self.proof.places), 'row')} that cancel"
            return f"{verdict}: no direction has every row on its own side{support}; the likelihood has a maximum"
        if self.verdict == "separable":
            return f"{verdict}: every row is on its own side; the likelihood has no maximum"
        left = counted(self.n_left, "row" if len(self.classes) <= 2 else "row-and-class pair")
        which = "which overlap" if self.n_overlap == self.n_left else f"of which at least {self.n_overlap:,} overlap"
        return f"{verdict}: all but {left}, {which}; the likelihood has no maximum"

    @property
    def n_overlap(self) -> int:
        """The number of rays that are proved to be separated by no direction: `n_left`, or those in clashes."""
        if self.reason is not None:
            return 0
        return sum(len(clash.proof.places) for clash in self.clashes) if self.clashes else self.n_left

    @property
    def direction(self) -> Floats | None:
        """The direction in floats, its largest entry 1, (p,) with the intercept first or (K, p); None if absent."""
        if self.weights is None:
            return None
        largest = max(abs(value) for value in self.weights)
        flat = np.array([float(value / largest) for value in self.weights])
        if len(self.classes) <= 2:
            return flat
        return np.vstack([np.zeros(len(self.names)), flat.reshape(len(self.classes) - 1, -1)])

    @property
    def coefficient_status(self) -> dict[str, str]:
        """By name: 'finite', '+inf', '-inf', 'not estimable' (no sign of its own), 'aliased' or 'diverges'.

        With more than two classes, names are "class: column", in scores relative to the first class. Empty if nothing
        was worked out.
        """
        if self.weights is None and self.proof is not None:
            aliased = {column for relation in self.proof.relations for column in relation}
            width = len(self.names) * max(1, len(self.classes) - 1)
            return self._by_name(["aliased" if column in aliased else "finite" for column in range(width)])
        if self.weights is None or self.divergence is None:
            return {}
        relations = None if self.proof is None else self.proof.relations
        return self._by_name(self.divergence.statuses(self.weights, relations))

    @property
    def divergence_dim(self) -> int | None:
        """The number of independent directions along which the likelihood increases; None if not worked out."""
        if self.verdict == "overlap":
            return 0
        if self.divergence is None:
            return None
        return len(self.divergence.spanning) - (0 if self.proof is None else len(self.proof.columns))

    def _by_name(self, values: Sequence[str]) -> dict[str, str]:
        names = self.names
        if len(self.classes) > 2:
            names = tuple(f"{label}: {name}" for label in self.classes[1:] for name in self.names)
        return dict(zip(names, values, strict=True))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check the verdict from the data; rows of weight 0 do not count."""
        rays, places = self._rays(X, y, sample_weight)
        if self.reason is not None:
            return Verification((Check("verdict", None, f"there is nothing to check: {self.reason}"),))
        left, checks = self._check_direction(rays, places)
        if left is None:
            return Verification(tuple(checks))
        same_count = len(left) == self.n_left
        checks.append(Check("left", same_count, f"{len(left):,} are left, claimed {self.n_left:,}"))
        if self.clashes:
            checks += self._clash_checks(rays, left)
        elif self.proof is None:
            separated = not len(left)
            detail = "none is left" if separated else f"row {int(rays.rows_of(left[:1])[0])} is not separated"
            checks.append(Check("separable", separated, detail))
        else:
            checks += self.proof.checks(rays, left)
        if self.divergence is not None and all(check.holds for check in checks):
            relations = None if self.proof is None else self.proof.relations
            checks += self.divergence.checks(rays, places, relations)
        return Verification(tuple(checks))

    def _clash_checks(self, rays: Rays, left: Indices) -> list[Check]:
        """Check each clash, that no ray is in two, and that nothing is claimed about the other rays left."""
        checks = [check for clash in self.clashes for check in clash.checks(rays, left)]
        if not all(check.holds for check in checks):
            return checks
        places = np.concatenate([clash.places(rays) for clash in self.clashes])
        bare = self.weights is not None and self.proof is None and self.divergence is None
        fits = bare and len(np.unique(places)) == len(places)
        return [*checks, Check("clashes", fits, f"{len(places):,} of those left cannot be separated")]

    def left_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Indices:
        """Return the rows (0-based) that no direction separates; with K classes, the rows of the pairs left.

        If the clashes have fewer rays than `n_left`, another direction might separate some of these rows.
        """
        rays, places = self._rays(X, y, sample_weight)
        left, checks = self._check_direction(rays, places)
        if left is None:
            raise DataError(f"these are not the data of the certificate: {checks[-1].detail}")
        return np.unique(rays.rows_of(left))

    def least_margin(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[float, Indices]:
        """Return the least of z·w / ‖w‖ over the rays that the direction separates, and its rows."""
        if self.weights is None:
            raise DataError("the classes overlap: there is no direction, and so no margin")
        rays, places = self._rays(X, y, sample_weight)
        products = rays.products(rays.from_exact(self.weights))[0][places]
        products[rays.signs(self.weights, places) == 0] = np.inf
        least = float(products.min())
        near = places[products <= least * (1.0 + TIED)]
        return least / float(np.linalg.norm(rays.from_exact(self.weights))), np.unique(rays.rows_of(near))

    def _check_direction(self, rays: Rays, places: Indices) -> tuple[Indices | None, list[Check]]:
        """Return the rays with z·w = 0, or None if the direction is below 0 on a ray or separates none."""
        if self.weights is None:
            return places, []
        signs = rays.signs(self.weights, places)
        if (signs < 0).any():
            row = int(rays.rows_of(places[signs < 0][:1])[0])
            return None, [Check("direction", False, f"row {row} is on the wrong side")]
        if not (signs > 0).any():
            return None, [Check("direction", False, "it separates no row at all")]
        separated = int((signs > 0).sum())
        return places[signs == 0], [Check("direction", True, f"above 0 on {separated:,}, below 0 on none, exactly")]

    def _rays(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rays, Indices]:
        design = make_design(in_order(X, self.names[int(self.fit_intercept) :]), intercept=self.fit_intercept)
        require_finite(design)
        labels = np.asarray(y)
        if labels.shape != (design.shape[0],) or len(labels) != self.n_rows:
            raise DataError(f"{design.shape[0]} rows and {len(labels)} labels; the certificate is of {self.n_rows}")
        width = design.shape[1] * max(1, len(self.classes) - 1)
        if design.shape[1] != len(self.names) or (self.weights is not None and len(self.weights) != width):
            raise DataError(f"X has {design.shape[1]} columns, intercept included; the certificate {len(self.names)}")
        if self.weighted and sample_weight is None:
            raise DataError("rows of weight 0 were left out; give sample_weight")
        weighted = weighted_rows(sample_weight, len(labels))
        codes = class_codes(labels, self.classes, whose="certificate", ignored=~weighted)
        rays = Rays(design, codes, len(self.classes))
        return rays, rays.places_of(weighted)

    def content(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "names": list(self.names),
            "fit_intercept": self.fit_intercept,
            "n_rows": self.n_rows,
            "n_left": self.n_left,
            "direction": None if self.weights is None else [to_number(value) for value in self.weights],
            "proof": None if self.proof is None else self.proof.content(),
            "divergence": None if self.divergence is None else self.divergence.content(),
            "coefficient_status": {} if self.divergence is None else self.coefficient_status,
            "divergence_dim": self.divergence_dim,
            "weighted": self.weighted,
            "reason": self.reason,
            **({"clashes": [clash.content() for clash in self.clashes]} if self.clashes else {}),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        weights, proof, reason = (content[name] for name in ("direction", "proof", "reason"))
        divergence, fields = content["divergence"], Fields(content)
        certificate = cls(
            classes=fields.labels("classes"),
            names=_names(content["names"]),
            fit_intercept=fields.flag("fit_intercept"),
            n_rows=fields.whole("n_rows"),
            n_left=fields.whole("n_left"),
            weights=None if weights is None else tuple(from_number(value) for value in weights),
            proof=None if proof is None else OverlapProof.from_content(proof),
            divergence=None if divergence is None else Divergence.from_content(divergence),
            weighted=fields.flag("weighted"),
            reason=None if reason is None else str(reason),
            clashes=tuple(PairOverlap.from_content(clash) for clash in content.get("clashes", ())),
        )
        opposites = () if certificate.divergence is None else certificate.divergence.opposites
        if any(len(opposite) != len(certificate.weights or ()) for opposite in opposites):
            raise ValueError("divergence.opposites should have as many numbers each as content.direction")
        derived = certificate.content()
        for name in ("coefficient_status", "divergence_dim"):
            if content[name] != derived[name]:
                raise ValueError(f"{name} is {content[name]!r}, but its proofs say {derived[name]!r}")
        return certificate


def _names(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a list of texts, not {names!r:.60}")
    return tuple(names)


def require_finite(design: Any) -> None:
    """Raise a DataError if an entry is NaN or infinite."""
    if not np.isfinite(largest_entry(design)):
        norms = design.squared_norms()
        row = int(np.flatnonzero(~np.isfinite(norms))[0])
        column = int(np.flatnonzero(~np.isfinite(design.take([row])[0]))[0])
        raise DataError(
            f"column {design.names[column]!r} is not finite in row {row}; drop such rows, or fill in a number"
        )


def mapped_rows(X: Any, feature_map: FeatureMap) -> Any:
    """Return rows that are mapped when read, or mapped once if mapping them again may change the last digits."""
    rows = MappedRows(X, feature_map)
    return rows if feature_map.exact else map_rows(rows)


@register
@dataclass(frozen=True)
class MappedCertificate(Certificate):
    """A verdict on mapped rows (`separability`) and, if sought, their widest margin; `columns` are the map's inputs."""

    kind: ClassVar[str] = "mapped"
    map: FeatureMap
    columns: tuple[str, ...]
    separability: Certificate
    widest: MarginCertificate | None = None

    @property
    def verdict(self) -> str:
        """The verdict on the mapped rows: 'separable', 'quasi', 'overlap', 'undecided', or 'mixed' if parts differ."""
        return self.separability.verdict

    @property
    def claim(self) -> str:
        values = ", in floats" if self.map.exact else ", in floats computed here"
        margin = "" if self.widest is None else f"; the widest margin there is {self.widest.lower:.6g}"
        if self.widest is not None and self.widest.verdict != "widest margin":
            margin += f" or more, at most {self.widest.upper:.6g}"
        return f"after the map ({self.map.words}{values}): {self.separability.claim}{margin}"

    @property
    def margin(self) -> float | None:
        """The certified margin after the map; None if there is none, or if there are more than two classes."""
        return None if self.widest is None else self.widest.lower

    @property
    def direction(self) -> Floats | None:
        """The direction after the map, in floats, the intercept first."""
        return self.separability.direction if isinstance(self.separability, SeparabilityCertificate) else None

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check the verdict and the margin from the rows before the map."""
        rows = mapped_rows(in_order(X, self.columns), self.map)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        verification = self.separability.verify(rows, y, **weights)
        if self.widest is None or not verification:
            return verification
        return Verification((*verification.checks, *self.widest.verify(rows, y).checks))

    def content(self) -> dict[str, Any]:
        return {
            "map": self.map.to_dict(),
            "columns": list(self.columns),
            "separability": self.separability.to_dict(),
            "margin": None if self.widest is None else self.widest.to_dict(),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        margin = content["margin"]
        widest = None if margin is None else certificate_from_dict(margin)
        if not (widest is None or isinstance(widest, MarginCertificate)):
            raise TypeError(f"its margin is of kind {widest.kind!r}, not 'margin'")
        separability = certificate_from_dict(content["separability"])
        feature_map, columns = map_from_dict(content["map"]), tuple(map(str, content["columns"]))
        if feature_map.inputs != len(columns):
            raise TypeError(f"its map takes {feature_map.inputs} columns, and {len(columns)} are named")
        return cls(feature_map, columns, separability, widest)
