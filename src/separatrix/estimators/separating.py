"""What the classifiers that separate share: every class must be separable, or the fit refuses with the proof."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Literal, Self

from separatrix.design.base import Design
from separatrix.errors import OverlapError, SeparationWarning, require_choice, require_count, require_number
from separatrix.estimators.base import LinearClassifier
from separatrix.families.base import BinaryTarget, binary_targets, join_results
from separatrix.families.svm import fit_svm
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.result import FitResult
from separatrix.losses.margin import SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.margin import MarginOptions

OnOverlap = Literal["raise", "soft"]
SOFT = ConvexOptions(tol=1e-6, max_passes=10_000)
SOFT_STRENGTH = 1e-3  # LinearSVM's own


class SeparatingClassifier(LinearClassifier):
    """A classifier that gets every training row right, or says why that cannot be."""

    tol: float
    max_passes: int
    on_overlap: OnOverlap

    @abstractmethod
    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        """Fit one class against the other, or the rest; rows that overlap raise an OverlapError."""

    def _fit_separately(self, design: Design, y: Any) -> tuple[Self, list[BinaryTarget]]:
        """Fit each class against the rest, of two one against the other; return the targets too."""
        soft = require_choice("on_overlap", self.on_overlap, ("raise", "soft")) == "soft"
        tol, passes = require_number("tol", self.tol, least=0.0), require_count("max_passes", self.max_passes)
        targets = binary_targets(self._classes(y))
        results = []
        for target in targets:
            try:
                results.append(self._separate(design, target, MarginOptions(tol, passes)))
            except OverlapError as overlap:
                if not soft:
                    raise
                warnings.warn(f"a soft margin instead: {overlap}", SeparationWarning, stacklevel=3)
                results.append(_soft(design, target))
        result = join_results(results, self.classes_.tolist())
        self.n_iter_ = max(1, round(result.passes))
        return self._keep(result, frames=1), targets


def _soft(design: Design, target: BinaryTarget) -> FitResult:
    problem = Problem(design, target.signs, SquaredHinge(), make_penalty(SOFT_STRENGTH, 0.0))
    return fit_svm(problem, SOFT, labels=target.labels)
