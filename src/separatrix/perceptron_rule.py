"""The perceptron rule: which scores are mistakes, and the update on a mistake.

    mistake: y·score < 0, or a score of exactly 0 as `tie` says; with a margin m > 0: y·score < m
    update:  w ← w + η_k y x, or with the batch rule the sum of y x over all mistakes; η_k = rate, or rate / k

`tie` says how a score of exactly 0 counts: "positive" predicts +1, "negative" −1; "mistake" makes it a mistake for
either label, "correct" for neither. Solvers apply the rule row by row, compiled (`loops.online`); this module applies
it to whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.codec import Range
from separatrix.design.base import Block
from separatrix.loops.online import TIE_CODES, Tie


@dataclass(frozen=True)
class UpdateRule:
    """The options of the rule; `inverse` means rate / k."""

    update: Literal["single", "batch"] = "single"
    tie: Tie = "positive"
    margin: Annotated[float, Range(0.0)] = 0.0
    rate: Annotated[float, Range(above=0.0)] = 1.0
    inverse: bool = False

    def rate_of(self, k: int) -> float:
        """Return the rate of the k-th update, counted from 1."""
        return self.rate / k if self.inverse else self.rate

    def mistaken(self, scores: Floats, y: Any, *, margin: float | None = None) -> Bools:
        """Return which scores are mistakes, at the margin of the rule unless another is given."""
        achieved, required = y * scores, self.margin if margin is None else margin
        if required > 0.0:
            return np.asarray(~(achieved >= required))
        return np.asarray(np.where(achieved == 0.0, self.is_wrong_tie(y), ~(achieved > 0.0)))

    def is_wrong_tie(self, y: Any) -> Any:
        """Return whether a score of exactly 0 is a mistake for labels ±1."""
        code = TIE_CODES[self.tie]
        return (code != 2) & (y != code)


def predicted_signs(scores: Floats, tie: Tie) -> Floats:
    """Return the label ±1 that each score predicts; 0 predicts −1 only if `tie` is "negative"."""
    return np.where(scores >= 0.0 if tie != "negative" else scores > 0.0, 1.0, -1.0)


def batch_update(block: Block, y: Any, coef: Floats, rule: UpdateRule) -> tuple[int, Floats]:
    """Return the number of mistakes in a block and the sum of y x over them, the batch update of the block."""
    wrong = rule.mistaken(block.matvec(coef), y)
    return int(wrong.sum()), block.rmatvec(np.where(wrong, y, 0.0))
