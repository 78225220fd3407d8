"""What can be learned from a table: one learner a file, by name in `LEARNERS`, loaded when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from separatrix.model.learn.base import Learner


class _Learners(Mapping[str, Learner]):
    """Learners by name; a fit need not wait for those that it does not use."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> Learner:
        learner: Learner = getattr(import_module(f"separatrix.model.learn.{name}"), self._classes[name])()
        return learner

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


# The class of each learner, in the file that has its name.
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
