"""What a pane learns with: a learner, its options, a feature map; each checked when the options are made.

`LEARNERS` says of each learner which options it has, so that a page can show these and no others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from separatrix.errors import OptionError, require_choice, require_number
from separatrix.rule import Tie
from separatrix.solvers.visits import Order

__all__ = ["LEARNERS", "MOST_STEPS", "OPTIONS", "Learner", "Option", "PaneOptions", "Start"]

MOST_STEPS = 10_000  # of a history
LARGEST_SEED = 2**32 - 1
LARGEST_START = 1e6
Start = Literal["zero", "random"] | tuple[float, ...]


class Option(NamedTuple):
    """An option as a form shows it: a choice, a number within bounds (a count is whole), a flag, or a start."""

    name: str
    title: str
    kind: Literal["choice", "number", "count", "flag", "start"]
    choices: tuple[str, ...] = ()
    least: float = 0.0
    most: float = 0.0
    empty: str | None = None  # what None stands for, where it may be given


MAPS = ("none", "squared_distance", "paraboloid", "polynomial", "products")
_ALL = (
    Option("fit_intercept", "intercept b", "flag"),
    Option("feature_map", "feature map Φ", "choice", MAPS),
    Option("degree", "degree", "count", least=1, most=6),
    Option("centre", "centre μ", "choice", ("mean", "search")),
    Option("update", "update", "choice", ("single", "batch")),
    Option("order", "order of visits", "choice", get_args(Order)),
    Option("rate", "rate η", "number", least=1e-6, most=1e6, empty="automatic"),
    Option("schedule", "schedule", "choice", ("constant", "inverse")),
    Option("start", "start w₀", "start"),
    Option("tie", "a score of 0 counts as", "choice", get_args(Tie)),
    Option("keep", "keep", "choice", ("last", "best", "average", "vote")),
    Option("margin", "margin asked for", "number", least=0.0, most=1e6),
    Option("strength", "strength of the penalty", "number", least=0.0, most=1e6),
    Option("kernel", "kernel", "choice", ("rbf", "polynomial", "linear")),
    Option("gamma", "gamma", "number", least=1e-9, most=1e9, empty="scale"),
    Option("block", "rows a step", "count", least=2, most=512),
    Option("unit", "a step is", "choice", ("auto", "update", "visit", "pass")),
    Option("seed", "seed", "count", least=0, most=LARGEST_SEED),
    Option("max_steps", "steps at most", "count", least=1, most=MOST_STEPS),
)
OPTIONS: dict[str, Option] = {option.name: option for option in _ALL}


class Learner(NamedTuple):
    """A learner: its title, its update in a line, the loss it follows, the options that it has and what a step may be.

    The units' first is the one that "auto" stands for.
    """

    title: str
    formula: str
    loss: str
    options: tuple[str, ...]
    units: tuple[str, ...] = ("step",)
    kernel: bool = False


_PLACE = ("fit_intercept", "feature_map", "degree", "centre")
_VISITS = ("order", "rate", "schedule", "start")
_SGD = (*_PLACE, *_VISITS, "unit", "seed", "max_steps")

LEARNERS: dict[str, Learner] = {
    "perceptron": Learner(
        "Perceptron",
        "w ← w + η·y·x on a mistake",
        "perceptron",
        (*_PLACE, "update", *_VISITS, "tie", "keep", "margin", "unit", "seed", "max_steps"),
        ("update", "visit"),
    ),
    "lms": Learner(
        "LMS, batch", "w ← w − η·mean (s − y)·x", "squared", (*_PLACE, "rate", "start", "seed", "max_steps")
    ),
    "lms_stochastic": Learner("LMS, stochastic", "w ← w − η·(s − y)·x", "squared", _SGD, ("visit", "pass")),
    "logistic_gradient": Learner(
        "Logistic, gradient",
        "w ← w − η·mean (σ(s) − t)·x",
        "logistic",
        (*_PLACE, "rate", "start", "strength", "seed", "max_steps"),
    ),
    "logistic_sgd": Learner(
        "Logistic, stochastic", "w ← w − η·(σ(s) − t)·x", "logistic", (*_SGD, "strength"), ("visit", "pass")
    ),
    "logistic_newton": Learner(
        "Logistic, Newton", "w ← w − H⁻¹∇", "logistic", (*_PLACE, "start", "strength", "seed", "max_steps")
    ),
    "svm": Learner(
        "SVM, hinge loss", "all rows at once, to the least objective", "hinge", (*_PLACE, "strength", "max_steps")
    ),
    "svm_sgd": Learner(
        "SVM, stochastic", "w ← (1 − ηλ)·w + η·y·x where y·s < 1", "hinge", (*_SGD, "strength"), ("visit", "pass")
    ),
    "lp": Learner("Linear program", "find w with every y·s ≥ 1", "perceptron", _PLACE),
    "max_margin": Learner("Hard margin", "least ‖w‖ with every y·s ≥ 1", "hinge", _PLACE),
    "kernel_perceptron": Learner(
        "Kernel perceptron",
        "cᵢ ← cᵢ + η·yᵢ on a mistake",
        "perceptron",
        (
            "fit_intercept",
            "kernel",
            "gamma",
            "degree",
            "order",
            "rate",
            "schedule",
            "tie",
            "margin",
            "seed",
            "max_steps",
        ),
        ("update",),
        kernel=True,
    ),
    "kernel_svm": Learner(
        "Kernel SVM",
        "the multipliers of a few rows at a time",
        "hinge",
        ("kernel", "gamma", "degree", "strength", "block", "max_steps"),
        kernel=True,
    ),
}


@dataclass(frozen=True)
class PaneOptions:
    """A pane: the learner and its options; those that the learner does not have are left as they are, unused.

    `rate` None is the learner's own choice; `start` is "zero", "random" or the weights, the intercept's first;
    `strength` 0 is no penalty (of an SVM 1/n is taken then).
    """

    learner: str = "perceptron"
    fit_intercept: bool = True
    feature_map: str = "none"
    degree: int = 2
    centre: str = "mean"
    update: str = "single"
    order: str = "cyclic"
    rate: float | None = None
    schedule: str = "constant"
    start: Start = "zero"
    tie: str = "positive"
    keep: str = "last"
    margin: float = 0.0
    strength: float = 0.0
    kernel: str = "rbf"
    gamma: float | None = None
    block: int = 8
    unit: str = "auto"
    seed: int = 0
    max_steps: int = 1000

    def __post_init__(self) -> None:
        require_choice("learner", self.learner, LEARNERS)
        for option in OPTIONS.values():
            _check(option, getattr(self, option.name))
        units = LEARNERS[self.learner].units
        if self.unit not in ("auto", *units) and "unit" in LEARNERS[self.learner].options:
            raise OptionError(f"unit={self.unit!r} is no step of {self.learner}; take 'auto' or {', '.join(units)}")

    @property
    def kind(self) -> Learner:
        """What is known of the learner."""
        return LEARNERS[self.learner]

    @property
    def step_unit(self) -> str:
        """What a step of the pane is: "update", "visit", "pass" or "step"."""
        batch = "update" in self.kind.options and self.update == "batch"
        known = self.kind.units[:1] if batch else self.kind.units
        return self.unit if self.unit in known else known[0]

    def changes(self) -> dict[str, Any]:
        """Return the options that are not as they are by default."""
        plain = PaneOptions()
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(plain, field.name)
        }


def _check(option: Option, value: Any) -> None:
    """Refuse a value that an option cannot take."""
    if value is None and option.empty is not None:
        return
    if option.kind == "choice":
        require_choice(option.name, value, option.choices)
    elif option.kind == "flag" and not isinstance(value, bool):
        raise OptionError(f"{option.name}={value!r} is no truth value; give True or False")
    elif option.kind == "number":
        require_number(option.name, value, least=option.least, most=option.most)
    elif option.kind == "count":
        _check_count(option, value)
    elif option.kind == "start":
        _check_start(value)


def _check_count(option: Option, value: Any) -> None:
    require_number(option.name, value, least=option.least, most=option.most)
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionError(f"{option.name}={value!r} is no whole number")


def _check_start(value: Any) -> None:
    if isinstance(value, str):
        require_choice("start", value, ("zero", "random"))
    elif not (isinstance(value, tuple) and 0 < len(value) <= 100):
        raise OptionError(f"start={value!r:.60} is no start; give 'zero', 'random', or a tuple of numbers")
    else:
        for number in value:
            require_number("start", number, least=-LARGEST_START, most=LARGEST_START)
