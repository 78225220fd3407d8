"""What a user may ask of a training, and nothing of how it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from separatrix.model.goal import refuse_unknown
from separatrix.model.learn.base import LearnOptions
from separatrix.model.storage import Storage


@dataclass(frozen=True)
class TrainOptions:
    """What a user may ask for: the learner by name, or "auto"; what of the table; what to keep apart.

    `holdout` is the share of rows kept apart, `folds` the number of parts that are each kept apart once.
    """

    model: str = "auto"
    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: Mapping[str, str] = field(default_factory=dict)
    positive: str | None = None
    holdout: float | None = None
    folds: int | None = None
    learn: LearnOptions = field(default_factory=LearnOptions)
    storage: Storage = field(default_factory=Storage)

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Refuse a table, by the names of its columns, that lacks one of those asked for."""
        refuse_unknown(source, names, self.target, (*self.drop, *self.text, *self.reference))
