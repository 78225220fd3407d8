"""The coefficients of a report: one row per coefficient, in the order of the model, with its place in a forest plot.

Numbers are odds ratios for log-odds, else changes of the score or of the prediction: per standard deviation of a column
with a unit, for a level against its reference level. The columns with several coefficients have a joint test. A
coefficient without a finite estimate has its profile-likelihood interval, and a note says why, what the data do say,
and what to do. No number is clipped: the axis holds every finite one, and an arrow leads to an infinite end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import counted
from separatrix.inference.profile import Interval
from separatrix.inference.table import InferenceTable, Term
from separatrix.model.train import TrainedModel
from separatrix.rendering.sheet import Reasons, digits, percent
from separatrix.reports.pictures import SampledRows, coefficient_table
from separatrix.reports.refit import Curve, diverging_intervals, joint_tests, tested_inference
from separatrix.reports.scale import Axis, number_cell
from separatrix.tables.table import Table, TableSource

NAMES_SHOWN, CLASSES_SHOWN, ROWS_SHOWN = 30, 7, 90  # coefficients, classes, and their product
NAMED = 4  # effects in a sentence
FINITE = "--firth (bias_reduction=True)"


@dataclass(frozen=True)
class Share:
    """Rows with or without a feature of 0 and 1, and how many of them are of a class, the `outcome`."""

    label: str
    outcome: str
    rows: int
    own: int

    @property
    def text(self) -> str:
        """The share in words."""
        return f"{self.own:,} of {self.rows:,} ({percent(self.own / self.rows)})"


@dataclass(frozen=True)
class Effect:
    """A coefficient on the scale of the forest, in logarithms if these are ratios; `term` is in the column's units.

    `note` is the number of the note on its absent cells, 0 for none; `marks` are places in percent of the axis.
    """

    name: str
    unit: str
    term: Term
    estimate: float | None
    lower: float | None
    upper: float | None
    note: int = 0
    shares: tuple[Share, ...] = ()
    curve: Curve | None = None
    marks: dict[str, float] = field(default_factory=dict)

    @property
    def ends(self) -> dict[str, float]:
        """The estimate and the ends of the interval that are not absent."""
        numbers = {"estimate": self.estimate, "lower": self.lower, "upper": self.upper}
        return {name: number for name, number in numbers.items() if number is not None}

    @property
    def diverges(self) -> bool:
        """Whether the interval has one infinite end."""
        return sum(end is not None and math.isinf(end) for end in (self.lower, self.upper)) == 1

    @property
    def side(self) -> int:
        """1 or −1 if the interval is above or below 0, else 0."""
        if self.lower is None or self.upper is None:
            return 0
        return int(self.lower > 0.0) - int(self.upper < 0.0)


@dataclass(frozen=True)
class Group:
    """The coefficients of a column of one class; with several it has a `label`, and a joint `test` if there is one."""

    label: str
    effects: tuple[Effect, ...]
    test: str = ""
    p: str = ""


@dataclass(frozen=True)
class Note:
    """Why cells are absent, what the data say all the same, and what to do."""

    reason: str
    said: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Forest:
    """The groups of each class (None if there is one), notes, and the axis: places in percent with their labels.

    `total` is the number of names, of which the largest are shown, and `undrawn` that of the classes left out.
    """

    outputs: tuple[tuple[Any, tuple[Group, ...]], ...]
    notes: tuple[Note, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float
    ratios: bool
    total: int
    undrawn: int
    tested: bool
    unit: str

    @property
    def effects(self) -> list[Effect]:
        """The effects of all classes."""
        return [effect for _, groups in self.outputs for group in groups for effect in group.effects]

    @cached_property
    def diverging(self) -> list[Effect]:
        """The effects without a finite estimate whose direction is known."""
        return [effect for effect in self.effects if effect.diverges]


def make_forest(trained: TrainedModel, table: Table | TableSource, rows: SampledRows) -> Forest | None:
    """Return the largest coefficients in the order of the model; None without any estimate of a feature."""
    coefficients, names = coefficient_table(trained), trained.model.encoding.feature_names
    own = [term for term in coefficients.terms if term.name in names]
    if not own or all(term.estimate is None for term in own):
        return None
    inference = tested_inference(trained, table, own)
    diverging = dict(diverging_intervals(inference, own, coefficients.level))
    ratios = any(term.ratio is not None for term in own) or trained.model.rule.link in {"sigmoid", "one_vs_rest"}
    reading = _Reading(trained, rows, diverging, ratios)
    effects = {(effect.term.output, effect.term.name): effect for effect in map(reading.effect, own)}
    shown = _largest(effects, names)
    tests = {} if len(shown) < len(names) else dict(joint_tests(trained, inference))
    classes = [output for output, _ in groupby(own, key=lambda term: term.output)]
    drawn = classes[:CLASSES_SHOWN]
    outputs = [
        (output, tuple(_groups(trained, {name: effects[output, name] for name in shown}, tests))) for output in drawn
    ]
    tested = any(term.lower is not None for term in own)
    axis = Axis.over([end for output in drawn for name in shown for end in effects[output, name].ends.values()], ratios)
    placed = tuple((output, tuple(_placed(group, axis) for group in groups)) for output, groups in outputs)
    notes, marked = _noted(placed, ratios, coefficients)
    return Forest(
        outputs=marked,
        notes=notes,
        ticks=axis.ticks,
        zero=axis.place(0.0),
        ratios=ratios,
        total=len(names),
        undrawn=len(classes) - len(drawn),
        tested=tested,
        unit=_unit(trained, ratios),
    )


def _unit(trained: TrainedModel, ratios: bool) -> str:
    if ratios:
        return "odds ratio" if len(trained.model.coef) == 1 else "ratio of odds"
    return "effect" if trained.model.classes is None else "change of score"


def _largest(effects: dict[tuple[Any, str], Effect], names: Sequence[str]) -> list[str]:
    """Return the names to show, in order: those without an estimate, and the largest ones."""
    sizes = dict.fromkeys(names, 0.0)
    for (_, name), effect in effects.items():
        sizes[name] = max(sizes[name], math.inf if effect.estimate is None else abs(effect.estimate))
    outputs = min(CLASSES_SHOWN, len({output for output, _ in effects}))
    most = min(NAMES_SHOWN, max(4, ROWS_SHOWN // outputs))
    largest = set(sorted(names, key=lambda name: -sizes[name])[:most])
    return [name for name in names if name in largest]


# Rows


@dataclass(frozen=True)
class _Reading:
    """What turns terms into effects: names and units of columns, and intervals of diverging coefficients."""

    trained: TrainedModel
    rows: SampledRows
    diverging: dict[tuple[Any, str], tuple[Interval, Curve | None]]
    ratios: bool

    @cached_property
    def features(self) -> dict[str, tuple[int, Any, str]]:
        """The place of each feature, its column, and its name without that of the column."""
        encoding = self.trained.model.encoding
        return {
            name: (index, column, own)
            for column, place in zip(encoding.columns, encoding.places, strict=True)
            for index, own, name in zip(
                range(place.start, place.stop), column.names, encoding.feature_names[place], strict=True
            )
        }

    def effect(self, term: Term) -> Effect:
        place, column, own = self.features[term.name]
        name, unit, factor = self._named(place, column, own)
        interval, curve = self.diverging.get((term.output, term.name), (None, None))
        ends = (term.lower, term.upper) if interval is None else (interval.lower, interval.upper)
        values = (None if each is None or math.isnan(each) else factor * each for each in (term.estimate, *ends))
        estimate, lower, upper = values
        if lower == -math.inf and upper == math.inf:
            lower = upper = None
        effect = Effect(name, unit, term, estimate, lower, upper, curve=curve)
        return replace(effect, shares=self._shares(place, effect)) if effect.diverges else effect

    def _named(self, place: int, column: Any, own: str) -> tuple[str, str, float]:
        """Return the name of a row, its unit, and the change of the feature that it is about."""
        if column.kind == "category":
            level, reference = own.removeprefix(f"{column.name}="), f"against {column.reference}"
            return (level, reference, 1.0) if len(column.names) > 1 else (column.name, f"{level}, {reference}", 1.0)
        if column.kind == "text":
            return own.removeprefix(f"{column.name}: "), "", 1.0
        if column.kind == "presence" or own != column.names[0]:
            return column.name, "missing, against present", 1.0
        if column.kind == "boolean":
            return column.name, f"{column.words[1]}, against {column.words[0]}", 1.0
        spread = float(self.rows.spread[place])
        if self._is_binary(place) or not self.rows.quantities[place] or not 0.0 < spread < math.inf:
            return column.name, "1, against 0" if self._is_binary(place) else "per unit", 1.0
        days = " days" if column.kind == "date" else ""
        return column.name, f"per {digits(float(f'{spread:.3g}'))}{days} (1 SD)", spread

    def _column(self, place: int) -> Floats:
        cells = self.rows.X[:, [place]]
        return np.asarray(cells.toarray() if hasattr(cells, "toarray") else cells, dtype=np.float64).ravel()

    def _is_binary(self, place: int) -> bool:
        return set(np.unique(self._column(place)).tolist()) == {0.0, 1.0}

    def _shares(self, place: int, effect: Effect) -> tuple[Share, ...]:
        """Return how the class of a diverging 0/1 feature is shared out, if all rows are in the sample."""
        classes, used = self.trained.target.classes, int(self.trained.model.data.get("rows", 0))
        if classes is None or self.rows.X.shape[0] != used or not self._is_binary(place):
            return ()
        mask = self._column(place) == 1.0
        code = int(effect.upper == math.inf)
        own = classes.codes[self.rows.places] == code
        column = self.features[effect.term.name][1].name
        level, against, _ = effect.unit.partition(", against ")
        texts = f"{column} = {level if against else effect.name}", "all other rows"
        return tuple(
            Share(
                text, f"{self.trained.model.target} = {classes.plain[code]}", int(rows.sum()), int((rows & own).sum())
            )
            for text, rows in zip(texts, (mask, ~mask), strict=True)
        )


def _groups(trained: TrainedModel, effects: dict[str, Effect], tests: dict[str, tuple[str, str]]) -> Iterator[Group]:
    encoding = trained.model.encoding
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        own = tuple(effects[name] for name in encoding.feature_names[place] if name in effects)
        if own:
            test = tests.get(column.name, ("", ""))
            labelled = len(column.names) > 1 and column.kind in {"category", "text"}
            yield Group(column.name if labelled else "", own, *test)


def _placed(group: Group, axis: Axis) -> Group:
    """Return a group with the marks of its effects."""
    marked = (
        replace(effect, marks={name: axis.place(number) for name, number in effect.ends.items()})
        for effect in group.effects
    )
    return replace(group, effects=tuple(marked))


# Notes


def _noted(
    outputs: Sequence[tuple[Any, tuple[Group, ...]]], ratios: bool, table: InferenceTable
) -> tuple[tuple[Note, ...], tuple[tuple[Any, tuple[Group, ...]], ...]]:
    """Return the notes on absent cells, and the outputs with their numbers; a reason of all cells has no note."""
    effects = [effect for _, groups in outputs for group in groups for effect in group.effects]
    if all(effect.term.lower is None and effect.estimate is not None for effect in effects):
        return (), tuple(outputs)
    reasons, notes = Reasons(), list[Note]()

    def numbered(effect: Effect) -> Effect:
        if not effect.term.absent:
            return effect
        note = _note(effect, ratios, table.level)
        text = f"{note}"
        if text not in reasons.sentences:
            reasons.mark(text)
            notes.append(note)
        return replace(effect, note=reasons.sentences.index(text) + 1)

    marked = tuple(
        (output, tuple(replace(group, effects=tuple(map(numbered, group.effects))) for group in groups))
        for output, groups in outputs
    )
    return tuple(notes), marked


def _note(effect: Effect, ratios: bool, level: float) -> Note:
    reason, _, remedy = effect.term.absent.partition("; ")
    if not effect.diverges:
        return Note(reason, "", remedy)
    above = effect.upper == math.inf
    end = effect.lower if above else effect.upper
    what = "odds ratios" if ratios else "coefficients"
    said = f"{what} {'below' if above else 'above'} {number_cell(end, ratio=ratios)} are rejected"
    said += f" (profile likelihood, {100.0 * level:g} % confidence)"
    if effect.shares and effect.shares[0].own == effect.shares[0].rows:
        share, way = effect.shares[0], "rises" if above else "falls"
        all_rows = f"all {counted(share.rows, 'row')} with {share.label!r} have {share.outcome!r}"
        reason = f"{all_rows}, so the likelihood has no maximum: it grows as the coefficient {way}"
    return Note(reason, said, f"report that limit, or refit with {FINITE}, whose estimates are finite")


def why_sentence(effect: Effect) -> str:
    """Return how the rows of a diverging feature differ from the others."""
    own, rest = effect.shares
    with_it = f"all {own.rows:,} rows" if own.own == own.rows else f"{own.text} rows"
    return f"{with_it} with {own.label!r} have {own.outcome!r}; of the others, {percent(rest.own / max(rest.rows, 1))}"


def effect_sentence(forest: Forest, event: str, level: float) -> str:
    """Return which effects differ from 0, in words; empty without intervals or with several classes."""
    if not forest.tested or len(forest.outputs) > 1:
        return ""
    up, down = (_names(forest, side) for side in (1, -1))
    what, rises, falls = (
        ("the odds of " + event, "rise", "fall") if forest.ratios else ("the prediction", "rises", "falls")
    )
    moves = [f"{verb} with {names}" for verb, names in ((rises, up), (falls, down)) if names]
    null = "an odds ratio of 1" if forest.ratios else "an effect of 0"
    return f"{what} {' and '.join(moves)}" if moves else f"no {100.0 * level:g} % confidence interval excludes {null}"


def _names(forest: Forest, side: int) -> str:
    names = []
    for _, groups in forest.outputs:
        for group in groups:
            names += [
                f"{group.label} = {effect.name}" if group.label else _plain_name(effect)
                for effect in group.effects
                if effect.side == side and effect.estimate is not None
            ]
    more = len(names) - NAMED
    shown = [*names[:NAMED], *([counted(more, "other")] if more > 0 else [])]
    return " and ".join(filter(None, [", ".join(map(repr, shown[:-1])), *map(repr, shown[-1:])]))


def _plain_name(effect: Effect) -> str:
    level, against, _ = effect.unit.partition(", against ")
    return f"{effect.name} = {level}" if against else effect.name
