"""Designs under a true null, and how often their tables reject it: the share of p < .05 among the cells shown.

A `Design` draws rows in which some columns have no effect, and says which tables are looked at. To add one, append it
to `DESIGNS`; `test_true_null.py` holds it to the law, and `scripts/true_null` writes its lines of the results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import collinear_designs
import null_designs
import numpy as np
import pandas as pd
import scipy.stats

import separatrix as sx
from separatrix.errors import SeparatrixWarning
from separatrix.inference.table import InferenceTable

ROW_KINDS = ("classical", "HC0", "HC1", "HC2", "HC3", "HC4", "CR2")
ROW_KINDS_OF_LIKELIHOODS = ("classical", "HC0", "HC1", "CR2")
GROUP_KINDS = ("clustered", "clustered_HC0", "CR2")
LEVEL = 0.05
PLAIN_LIMIT, FLAGGED_LIMIT = 0.065, 0.08
FLAGS = ("groups are few", "events per parameter")  # notes about every cell; "small sample" names its cells
Generator = np.random.Generator


class Sample(NamedTuple):
    """Rows with a target, and the group of each row if they have any."""

    X: Any
    y: Any
    groups: Any = None


class Trained:
    """`sx.train` of the rows as a table with gaps, with the interface of an estimator."""

    def fit(self, X: Any, y: Any) -> Trained:
        """Train on columns "x1", "x2", …; the target of classes is text."""
        frame = pd.DataFrame(X, columns=[f"x{place + 1}" for place in range(X.shape[1])])
        frame["y"] = np.where(y, "yes", "no") if y.dtype.kind == "i" else y
        self.table = sx.train(frame, "y").fitted.table
        return self

    def summary(self) -> InferenceTable:
        """Return the table of the model."""
        return self.table


MODELS: dict[str, Callable[[], Any]] = {
    "linear": sx.LinearRegression,
    "logistic": sx.LogisticRegression,
    "softmax": sx.LogisticRegression,
    "Firth": lambda: sx.LogisticRegression(bias_reduction=True),
    "linear, trained": Trained,
    "logistic, trained": Trained,
}


@dataclass(frozen=True)
class Design:
    """Rows to draw, the model, and the tables looked at: options of `summary`, by name.

    `nulls` are the columns without an effect. No cell may be absent if the design is `regular`.
    """

    name: str
    draw: Callable[[Generator], Sample]
    model: str
    tables: dict[str, dict[str, Any]]
    nulls: tuple[str, ...] = ("x1", "x2", "x3")
    regular: bool = False


@dataclass
class Share:
    """Cells of one kind of table: how many were absent, shown, and shown beside a flag, and rejected the null."""

    design: Design
    table: str
    absent: int = 0
    shown: list[int] = field(default_factory=lambda: [0, 0])  # without and with a flag
    rejected: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def cells(self) -> int:
        """All cells."""
        return self.absent + sum(self.shown)

    def rate(self, flagged: bool) -> float:
        """Return the share of p < .05 among the cells shown."""
        return self.rejected[flagged] / max(self.shown[flagged], 1)

    @property
    def faults(self) -> list[str]:
        """What breaks the law: three standard errors are allowed for if there are fewer than 1,000 cells."""
        found = [f"{self.absent} of {self.cells} cells are absent"] * bool(self.design.regular and self.absent)
        for flagged, limit in ((False, PLAIN_LIMIT), (True, FLAGGED_LIMIT)):
            count = self.shown[flagged]
            chance = 3.0 * (limit * (1.0 - limit) / count) ** 0.5 if 0 < count < 1000 else 0.0
            if self.rate(flagged) > limit + chance:
                found.append(f"{self.rate(flagged):.3f} of {count} cells{' beside a flag' * flagged} reject")
        return [f"{self.design.name}, {self.design.model}, {self.table}: {fault}" for fault in found]


def count(design: Design, runs: int, seed: int = 0) -> list[Share]:
    """Draw a design many times and count the cells of its tables."""
    rng = np.random.default_rng(seed)
    shares = {name: Share(design, name) for name in design.tables}
    for _ in range(runs):
        sample = design.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparatrixWarning)
            model = MODELS[design.model]().fit(sample.X, sample.y)
        for name, options in design.tables.items():
            groups = {"groups": sample.groups} if options.get("groups") is True else {}
            _add(shares[name], model.summary(**(options | groups)))
    return list(shares.values())


def _add(share: Share, table: InferenceTable) -> None:
    everywhere = any(flag in note for note in table.notes for flag in FLAGS)
    named = " ".join(note for note in table.notes if note.startswith("small sample"))
    for term in table.terms:
        if term.name not in share.design.nulls:
            continue
        flagged = everywhere or repr(term.name) in named
        share.absent += term.p_value is None
        share.shown[flagged] += term.p_value is not None
        share.rejected[flagged] += term.p_value is not None and term.p_value < LEVEL


def line(share: Share) -> str:
    """Return the counts as a row of a Markdown table, with the binomial 99 % bound of shares above their limit."""
    rates = []
    for flagged, limit in ((False, PLAIN_LIMIT), (True, FLAGGED_LIMIT)):
        rate, count = share.rate(flagged), share.shown[flagged]
        bound = float(scipy.stats.binom.ppf(0.99, count, limit)) / max(count, 1)
        text, bold = f"{rate:.3f} of {count:,}", "**" * (rate > bound)
        by_chance = f" (by chance up to {bound:.3f})" if limit < rate <= bound else ""
        rates.append(f"{bold}{text}{bold}{by_chance}" if count else "–")
    design, absent = share.design, f"{share.absent / share.cells:.1%}"
    return f"| {' | '.join((design.name, design.model, share.table, absent, *rates))} |"


def normal(n: int, columns: int = 3) -> Callable[[Generator], Sample]:
    """Return independent normal columns and errors."""
    return lambda rng: Sample(rng.standard_normal((n, columns)), rng.standard_normal(n))


def unequal(n: int) -> Callable[[Generator], Sample]:
    """Return errors whose spread grows with the first column, by a factor of 3 over its range."""

    def draw(rng: Generator) -> Sample:
        X = rng.standard_normal((n, 3))
        return Sample(X, rng.standard_normal(n) * np.exp(0.25 * X[:, 0]))

    return draw


def one_row(n: int, value: float) -> Callable[[Generator], Sample]:
    """Return a third column that is `value` in one row: elsewhere 0, or normal if the value is above 1."""

    def draw(rng: Generator) -> Sample:
        X = rng.standard_normal((n, 3))
        X[:, 2] *= value > 1.0
        X[5, 2] = value
        return Sample(X, rng.standard_normal(n))

    return draw


def grouped(sizes: Sequence[int], shared: float = 0.3, treated: int = 0) -> Callable[[Generator], Sample]:
    """Return errors that share part of their variance within groups, and columns that vary between and within them.

    The first varies between groups only: normal, or whether a group is one of the first, `treated`.
    """
    groups = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: Generator) -> Sample:
        between, X = rng.standard_normal((len(sizes), 3))[groups], rng.standard_normal((len(groups), 3))
        X[:, 0] = groups < treated if treated else between[:, 0]
        X[:, 1] = 0.8 * X[:, 1] + 0.6 * between[:, 1]
        own = rng.standard_normal(len(groups))
        return Sample(X, np.sqrt(shared) * between[:, 2] + np.sqrt(1.0 - shared) * own, groups)

    return draw


def series(n: int, correlation: float) -> Callable[[Generator], Sample]:
    """Return columns and errors that are correlated from row to row."""

    def draw(rng: Generator) -> Sample:
        noise = rng.standard_normal((n + 50, 4))
        for row in range(1, n + 50):
            noise[row] += correlation * noise[row - 1]
        return Sample(noise[50:, :3], noise[50:, 3])

    return draw


def labelled(draw: Callable[[Generator], Sample], above: float = 0.0) -> Callable[[Generator], Sample]:
    """Return the rows of a design with labels: whether the error is above a value."""

    def drawn(rng: Generator) -> Sample:
        sample = draw(rng)
        return sample._replace(y=(sample.y > above).astype(int))

    return drawn


def by_class(draw: Callable[[Generator], Sample]) -> Callable[[Generator], Sample]:
    """Return the rows of a design with three classes, by thirds of the error."""

    def drawn(rng: Generator) -> Sample:
        sample = draw(rng)
        return sample._replace(y=np.digitize(sample.y, [-0.43, 0.43]))

    return drawn


def gaps(n: int, classes: bool, at_random: bool) -> Callable[[Generator], Sample]:
    """Return x1 with an effect, x2 correlated .9 with it without one, and x3; 30 % of x1 are missing.

    `at_random`: by chance alone; otherwise where x2 is large.
    """

    def draw(rng: Generator) -> Sample:
        X = rng.standard_normal((n, 3))
        X[:, 1] = 0.9 * X[:, 0] + np.sqrt(0.19) * X[:, 1]
        noise = rng.logistic(size=n) if classes else rng.standard_normal(n)
        y = X[:, 0] + noise
        gone = rng.random(n) < (0.3 if at_random else 0.6 * (X[:, 1] > 0.0))
        X[gone, 0] = np.nan
        return Sample(X, (y > 0.0).astype(int) if classes else y)

    return draw


def collinear(made: Callable[..., Any], n: int, model: str) -> Callable[[Generator], Sample]:
    """Return columns of which some are combinations of others, to rounding."""

    def draw(rng: Generator) -> Sample:
        design = made(rng, n)
        if model == "linear":
            return Sample(design.X, design.score + rng.standard_normal(n))
        classes = 3 if model == "softmax" else 2
        scores = np.outer(design.score, [0.0, 1.0, -0.3][:classes])
        return Sample(design.X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1))

    return draw


def both_classes(made: Callable[..., Any], n: int) -> Callable[[Generator], Sample]:
    """Return samples of a design in which both classes occur."""

    def draw(rng: Generator) -> Sample:
        while True:
            X, y = made(rng, n)
            if 0 < y.sum() < n:
                return Sample(X, y)

    return draw


def by_rows(kinds: Sequence[str] = ROW_KINDS) -> dict[str, dict[str, Any]]:
    """Return the tables of covariances that take rows to be independent."""
    return {kind: {"covariance": kind} for kind in kinds}


def by_groups() -> dict[str, dict[str, Any]]:
    """Return the tables of covariances that take groups to be independent."""
    return {kind: {"covariance": kind, "groups": True} for kind in GROUP_KINDS}


CLASSICAL: dict[str, dict[str, Any]] = {"classical": {}}
LIKELIHOOD_ROWS = by_rows(ROW_KINDS_OF_LIKELIHOODS)
PROFILE: dict[str, dict[str, Any]] = {"profile": {}}
LIKELIHOODS = LIKELIHOOD_ROWS | {"likelihood ratio": {"test": "lr"}}
LAGGED = {"newey_west": {"covariance": "newey_west", "lag": 4}}
UNBALANCED = [5] * 20 + [20] * 8 + [60] * 2
BALANCED = [8] * 100
DESIGNS = [
    Design("100 rows", normal(100), "linear", by_rows(), regular=True),
    Design("25 rows", normal(25), "linear", by_rows()),
    Design("100 rows, unequal variances", unequal(100), "linear", by_rows(ROW_KINDS[1:])),
    Design("leverage 1", one_row(60, 1.0), "linear", by_rows(ROW_KINDS[1:])),
    Design("leverage near 1", one_row(60, 30.0), "linear", by_rows(ROW_KINDS[1:])),
    Design("100 groups", grouped(BALANCED), "linear", by_groups(), regular=True),
    Design("6 groups", grouped([20] * 6), "linear", by_groups()),
    Design("10 groups", grouped([20] * 10), "linear", by_groups()),
    Design("one treated group of 20", grouped([10] * 20, treated=1), "linear", by_groups()),
    Design("4 treated groups of 20", grouped([10] * 20, treated=4), "linear", by_groups()),
    Design("30 groups of 5 to 60", grouped(UNBALANCED), "linear", by_groups()),
    Design("series of 400", series(400, 0.0), "linear", LAGGED, regular=True),
    Design("series of 200, correlated", series(200, 0.3), "linear", LAGGED),
    Design("200 rows", labelled(normal(200)), "logistic", LIKELIHOOD_ROWS, regular=True),
    Design("60 rows", labelled(normal(60)), "logistic", LIKELIHOOD_ROWS),
    Design("leverage near 1", labelled(one_row(100, 30.0)), "logistic", LIKELIHOOD_ROWS),
    Design("100 groups", labelled(grouped(BALANCED)), "logistic", by_groups(), regular=True),
    Design("6 groups", labelled(grouped([20] * 6)), "logistic", by_groups()),
    Design("10 groups", labelled(grouped([20] * 10)), "logistic", by_groups()),
    Design("one treated group of 20", labelled(grouped([10] * 20, treated=1)), "logistic", by_groups()),
    Design("4 treated groups of 20", labelled(grouped([10] * 20, treated=4)), "logistic", by_groups()),
    Design("30 groups of 5 to 60", labelled(grouped(UNBALANCED)), "logistic", by_groups()),
    Design("300 rows, 3 classes", by_class(normal(300)), "softmax", LIKELIHOOD_ROWS, regular=True),
    Design("100 groups, 3 classes", by_class(grouped(BALANCED)), "softmax", by_groups(), regular=True),
    Design("10 groups, 3 classes", by_class(grouped([20] * 10)), "softmax", by_groups()),
    *(
        Design(
            f"30 % missing {where}",
            gaps(300, model == "logistic", by_chance),
            f"{model}, trained",
            CLASSICAL,
            ("x2", "x3"),
            regular=True,
        )
        for model in ("linear", "logistic")
        for by_chance, where in ((True, "by chance"), (False, "by another column"))
    ),
    *(
        Design(
            f"collinear {made.__name__}", collinear(made, 250, model), model, tables, (f"x{null + 1}",), regular=True
        )
        for model, tables in (
            ("linear", by_rows(("classical", "HC1", "HC3", "CR2"))),
            ("logistic", LIKELIHOODS),
            ("softmax", CLASSICAL),
        )
        for made, null in ((collinear_designs.temperatures, 2), (collinear_designs.shares, 4))
        if model != "softmax" or null == 2
    ),
    *(
        Design(f"{made.__name__.replace('_', ' ')}, {n} rows", both_classes(made, n), model, tables, nulls)
        for made, nulls in null_designs.DESIGNS.items()
        for n, model, tables in ((60, "logistic", LIKELIHOODS), (200, "logistic", LIKELIHOODS), (60, "Firth", PROFILE))
    ),
]
