"""The perceptron rule: when a visit is a mistake, and how far its update moves.

    mistake: y·score < 0, or a score of exactly 0 as `tie` says; with a margin m > 0: y·score < m
    update:  w ← w + η_k y x, or with the batch rule the sum of y x over all mistakes; η_k = rate, or rate / k

`tie` is what a score of exactly 0 counts as: "positive" predicts +1, "negative" −1; "mistake" is one for either label,
"correct" for none. Solvers follow the rule row by row (compiled, in `loops.online`); here it is on whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block
from separatrix.loops.online import TIE_CODES, Tie


@dataclass(frozen=True)
class UpdateRule:
    """The rule that a run follows."""

    update: Literal["single", "batch"] = "single"
    tie: Tie = "positive"
    margin: float = 0.0
    rate: float = 1.0
    inverse: bool = False

    def rate_of(self, k: int) -> float:
        """Return the rate of the k-th update, counted from 1."""
        return self.rate / k if self.inverse else self.rate

    def mistaken(self, scores: Floats, y: Any, *, margin: float | None = None) -> Bools:
        """Tell which scores are mistakes, at the rule's margin unless another is given."""
        reached, asked = y * scores, self.margin if margin is None else margin
        if asked > 0.0:
            return np.asarray(~(reached >= asked))
        code = TIE_CODES[self.tie]
        wrong_tie = (code != 2) & (y != code)
        return np.asarray(np.where(reached == 0.0, wrong_tie, ~(reached > 0.0)))


def predicted_signs(scores: Floats, tie: Tie) -> Floats:
    """Return the label ±1 that each score predicts; 0 predicts −1 only if `tie` is "negative"."""
    return np.where(scores >= 0.0 if tie != "negative" else scores > 0.0, 1.0, -1.0)


def mistaken_sum(block: Block, y: Any, coef: Floats, rule: UpdateRule) -> tuple[int, Floats]:
    """Return the number of mistakes in a block and the sum of y x over them: the batch update, to be folded."""
    wrong = rule.mistaken(block.matvec(coef), y)
    return int(wrong.sum()), block.rmatvec(np.where(wrong, y, 0.0))
