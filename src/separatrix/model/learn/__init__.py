"""Learners of predictors from tables, one per module; `LEARNERS` imports them by name when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from separatrix.model.learn.base import Learner


class _Learners(Mapping[str, Learner]):
    """Learners by name, imported on access."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> Learner:
        learner: Learner = getattr(import_module(f"separatrix.model.learn.{name}"), self._classes[name])()
        return learner

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


# Module name to class name.
LEARNERS: Mapping[str, Learner] = _Learners(
    {
        "logistic": "LogisticLearner",
        "linear": "LinearLearner",
        "svm": "SVMLearner",
        "perceptron": "PerceptronLearner",
        "lms": "LMSLearner",
        "generative": "GenerativeLearner",
    }
)
