"""The mistake bound of perceptrons run on partitions and mixed round by round (McDonald, Hall and Mann 2010).

With kₛ mistakes of partition s in a round and its share μₛ of the mixture, K = Σ over rounds of Σₛ μₛ kₛ stands where
the number of updates stands in Novikoff's proof, so that K ≤ (R/γ)² from start 0. The mistakes of all partitions
together have no such bound, but for their number times it where the shares are equal. Mixed by mistakes, no round that
has a mistake adds less than 1 to K: there are at most (R/γ)² of them.

`verify` re-checks radius, margin, the bound on K and convergence; the rounds are not replayed, as their weights depend
on how the rows were cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from separatrix.arrays import Floats
from separatrix.certificates.base import Check, register
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.codec import Fields
from separatrix.design.base import Design
from separatrix.errors import counted


@register
@dataclass(frozen=True)
class MixingCertificate(MistakesCertificate):
    """Rounds of a perceptron on `parts` partitions: `updates` mistakes in all, `mixed` = K weighted by their shares."""

    kind: ClassVar[str] = "mixing"
    mixed: float = 0.0
    rounds: int = 0
    parts: int = 1
    by_mistakes: bool = True

    @property
    def bounded(self) -> float:
        """What the bound is of: K."""
        return self.mixed

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        where = f"{counted(self.rounds, 'round')} on {counted(self.parts, 'partition')}"
        weighted = f"weighted by their shares {self.mixed:.6g}"
        run = f"{where}, {counted(self.updates, 'mistake')}, {weighted}, on rows within radius {self.radius:.6g}"
        if self.bound is None:
            return f"{run}; no separator is known, so there is no bound"
        rounds = ", and as many rounds with a mistake" if self.by_mistakes else ""
        how = "(R/γ)²" if self.is_textbook else "the bound"
        return (
            f"{run}; a separator of margin γ = {self.margin:.6g} allows {how} = {self.bound:.6g} weighted mistakes"
            f" at most{rounds}"
        )

    def _check_run(self, design: Design, signs: Floats) -> Check:  # noqa: ARG002  # nothing of the data
        least = self.rounds - int(self.converged) if self.by_mistakes else 0
        if not max(0, least) <= self.mixed <= self.updates:
            return Check("run", False, f"{self.rounds:,} rounds cannot have {self.mixed:.6g} weighted mistakes")
        return Check("run", None, "not replayed: the mixtures depend on how the rows were cut into partitions")

    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""
        own = {"mixed": self.mixed, "rounds": self.rounds, "parts": self.parts, "by_mistakes": self.by_mistakes}
        return {**super().content(), **own}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        known, fields = vars(MistakesCertificate.from_content(content)), Fields(content)
        return cls(
            **known,
            mixed=fields.within("mixed"),
            rounds=fields.whole("rounds"),
            parts=fields.whole("parts"),
            by_mistakes=fields.flag("by_mistakes"),
        )
