"""A verdict after a feature map: the map itself, written out, and the certificate of the mapped rows.

`verify` takes the rows as they were before the map, maps them anew and checks the proof on what comes out, so nothing
but the original data is needed. What is proved is proved of the floats that the map gives. Maps of single float
operations give the same ones everywhere; those that are not `exact` may differ in the last digits from one machine to
the next, and the proof is then checked on the ones there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, Check, Verification, certificate_from_dict, register
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.build import map_rows
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import FeatureMap, map_from_dict
from separatrix.errors import DataError


def mapped_rows(X: Any, feature_map: FeatureMap) -> Any:
    """Return rows to be read through a map; mapped at once where mapping them again may change the last digits."""
    rows = MappedRows(X, feature_map)
    return rows if feature_map.exact else map_rows(rows)


@register
@dataclass(frozen=True)
class MappedCertificate(Certificate):
    """`separability` is of the rows after the map, `columns` are those before it; `widest` is the margin, if sought."""

    kind: ClassVar[str] = "mapped"
    map: FeatureMap
    columns: tuple[str, ...]
    separability: Certificate
    widest: MarginCertificate | None = None

    @property
    def verdict(self) -> str:
        """The verdict on the mapped rows: 'separable', 'quasi', 'overlap', 'undecided'; 'mixed' of several parts."""
        return self.separability.verdict

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        values = ", in floats" if self.map.exact else ", in floats computed here"
        margin = "" if self.widest is None else f"; the widest margin there is {self.widest.lower:.6g}"
        if self.widest is not None and self.widest.verdict != "widest margin":
            margin += f" or more, at most {self.widest.upper:.6g}"
        return f"after the map ({self.map.words}{values}): {self.separability.claim}{margin}"

    @property
    def margin(self) -> float | None:
        """The margin after the map, certified; None where there is none, or more than two classes."""
        return None if self.widest is None else self.widest.lower

    @property
    def direction(self) -> Floats | None:
        """The direction found after the map, as floats, the intercept first."""
        return self.separability.direction if isinstance(self.separability, SeparabilityCertificate) else None

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check the verdict, and the margin, from the rows as they were before the map."""
        try:
            rows = mapped_rows(self._in_order(X), self.map)
        except DataError as trouble:
            return Verification((Check("data", False, str(trouble)),))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = self.separability.verify(rows, y, **weights)
        if self.widest is None or not found:
            return found
        return Verification((*found.checks, *self.widest.verify(rows, y).checks))

    def _in_order(self, X: Any) -> Any:
        """Return a table with its columns in the order of the map's."""
        if not hasattr(X, "columns"):
            return X
        given = [str(name) for name in X.columns]
        if sorted(given) != sorted(self.columns) or given == list(self.columns):
            return X
        return np.asarray(X)[:, [given.index(name) for name in self.columns]]

    def content(self) -> dict[str, Any]:
        """Return the map and the certificates of the mapped rows as JSON values."""
        return {
            "map": self.map.to_dict(),
            "columns": list(self.columns),
            "separability": self.separability.to_dict(),
            "margin": None if self.widest is None else self.widest.to_dict(),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        margin = content["margin"]
        widest = None if margin is None else certificate_from_dict(margin)
        if not (widest is None or isinstance(widest, MarginCertificate)):
            raise TypeError(f"its margin is of kind {widest.kind!r}, not 'margin'")
        separability = certificate_from_dict(content["separability"])
        feature_map, columns = map_from_dict(content["map"]), tuple(map(str, content["columns"]))
        if feature_map.inputs != len(columns):
            raise TypeError(f"its map takes {feature_map.inputs} columns, and {len(columns)} are named")
        return cls(feature_map, columns, separability, widest)
