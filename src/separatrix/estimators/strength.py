"""The strength of a penalty as users give it: a number, or "cv" for one that cross-validation chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.errors import OptionError, require_choice, require_count
from separatrix.estimators.base import seed_of
from separatrix.fit.convex import ConvexOptions
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice, assign_folds, cross_validate

WeightKind = Literal["precision", "frequency"]


class ClassTask(NamedTuple):
    """A classifier's problem without its penalty, the labels that its targets stand for, and those classes' weights."""

    problem: Problem
    labels: tuple[Any, ...]
    class_weights: tuple[float, ...] | None


class PenalisedProblem(NamedTuple):
    """A problem with its penalty, and where to start it (None: anywhere)."""

    problem: Problem
    start: Floats | None


class Penalised:
    """What estimators with a `strength` share; `cv_` holds the cross-validation where there was one, else None."""

    strength: float | Literal["cv"]
    l1_ratio: float
    cv: int
    cv_choice: StrengthChoice
    strengths: Any
    random_state: Any
    cv_: CrossValidation | None

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return what is to be minimised, without a penalty: one problem, or one a class against the rest."""
        raise NotImplementedError

    def _penalise(
        self, problems: Sequence[Problem], options: ConvexOptions, starts: Sequence[Floats | None]
    ) -> list[PenalisedProblem]:
        """Return the problems with the penalty asked for or, by cross-validation, chosen, then with where to start."""
        strength: Any = self.strength
        require_choice("weight_kind", getattr(self, "weight_kind", "precision"), get_args(WeightKind))
        self.cv_ = None
        if isinstance(strength, str):
            if strength != "cv":
                raise OptionError(f'strength={strength!r} is not known; give a number of at least 0, or "cv"')
            self.cv_ = self._cross_validate(problems, options)
            strength = self.cv_.strength
            starts = [path.coefs[self.cv_.place] for path in self.cv_.paths]
        self.strength_ = float(strength) if isinstance(strength, int | float | np.number) else strength
        penalty = make_penalty(strength, self.l1_ratio)
        pairs = zip(problems, starts, strict=True)
        return [PenalisedProblem(replace(problem, penalty=penalty), start) for problem, start in pairs]

    def _origin(self) -> dict[str, Any]:
        """Return where the strength came from and what weights mean, for a result's provenance."""
        kind = {"weight_kind": self.weight_kind} if hasattr(self, "weight_kind") else {}
        return kind if self.cv_ is None else {**kind, "cv": len(self.cv_.fold_losses), "cv_choice": self.cv_.choice}

    def _cross_validate(self, problems: Sequence[Problem], options: ConvexOptions) -> CrossValidation:
        first, seed = problems[0], seed_of(self.random_state)
        classes = None if first.loss.target == "numbers" else _strata(problems)
        folds = assign_folds(len(first.y), require_count("cv", self.cv), seed, classes)
        return cross_validate(
            problems, self.l1_ratio, folds, choice=self.cv_choice, strengths=self.strengths, options=options
        )


def _strata(problems: Sequence[Problem]) -> Indices:
    """Return the class of each row: its place, its sign, or the problem in which it is the one against the rest."""
    if problems[0].loss.target == "classes":
        return np.asarray(problems[0].y, dtype=np.intp)
    if len(problems) == 1:
        return (problems[0].y > 0.0).astype(np.intp)
    return np.asarray(np.argmax([problem.y for problem in problems], axis=0))
