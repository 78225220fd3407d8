"""The seam of all learners: rows in (`TrainingRows`), a fit with its evidence and inference out (`Fitted`).

A family is a module with a function ``fit(rows, options, watch) -> Fitted``. Estimators, tables, the command line and
the comparison are adapters over it. Several classes come from binary fits: one-vs-rest (`join_results`), where the
highest score wins, or one-vs-one (`pair_votes`), where most votes win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.data import Scheme
from separatrix.design.base import Design, one_blas_thread
from separatrix.design.build import make_design, naming_scales
from separatrix.errors import DataError, OptionError, did_you_mean, require_choice, require_number
from separatrix.families.options import ElasticNetOptions, Options, PenalisedOptions, require_weighted
from separatrix.fit.convex import SOLVERS, ConvexOptions
from separatrix.fit.labels import Classes
from separatrix.fit.progress import shown_progress
from separatrix.fit.result import FitResult, Status
from separatrix.fit.run import Watch
from separatrix.inference.eligibility import Refusal
from separatrix.inference.fitted import Inference, RefusedInference, SampleRows
from separatrix.inference.table import InferenceTable
from separatrix.losses.base import Loss
from separatrix.problem import Problem
from separatrix.selection import CrossValidation
from separatrix.solvers.base import Solver
from separatrix.solvers.gradient import Gradient
from separatrix.solvers.stochastic import Stochastic

Link = Literal["sigmoid", "softmax", "one_vs_rest", "none"]
Side = Literal["positive", "negative"]
ADDITIVE_FACTS = ("updates", "visits", "reads", "gap")  # facts that are summed over the fits
NARROW = 256  # columns up to which matrices of them are so small that threads of BLAS cost more than they save
NO_OPTIMUM = {Status.INFEASIBLE, Status.SEPARATED}  # goals that are reached without an optimum


class ClassifiedRows:
    """Rows whose target may be classes."""

    classes: Classes | None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes as plain values, in the order of the scores."""
        return tuple(self.class_targets.plain)

    @property
    def class_targets(self) -> Classes:
        """The classes of a classification."""
        assert self.classes is not None
        return self.classes


@dataclass(frozen=True, eq=False)
class TrainingRows(ClassifiedRows):
    """The rows of a fit: X (n, p) in any storage, and the target, classes or numbers y.

    `weights` are sample weights (None: all 1), `names` the columns' names (None: x1, x2, …), `quantities` the columns
    that may be scaled (None: all).
    """

    X: Any
    y: NDArray[Any]
    classes: Classes | None = None
    weights: Floats | None = None
    names: tuple[str, ...] | None = None
    quantities: Bools | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    def design(self, intercept: bool) -> Design:
        """Return X as a design."""
        return make_design(self.X, intercept=intercept, names=None if self.names is None else list(self.names))

    def ordered(self, positive: Any, reference: Any = None) -> TrainingRows:
        """Return the rows with the classes in the order of the scores."""
        return replace(self, classes=order_classes(self.class_targets, positive, reference))


def order_classes(classes: Classes, positive: Any, reference: Any = None) -> Classes:
    """Return the classes in the order of the scores: of two, the positive one is the second.

    For two classes the reference is the one that is not positive. A class that does not occur is refused.
    """
    first, second = class_index("reference_class", reference, classes), class_index("positive", positive, classes)
    count = len(classes.values)
    if second is not None and count > 2:
        raise OptionError(f"positive={positive!r} chooses between two classes, but there are {count}; leave it out")
    if first is not None and first == second:
        raise OptionError(f"positive and reference_class are both {positive!r}; of two classes give one of them")
    flipped = count == 2 and (second == 0 or first == 1)
    return Classes(classes.values[::-1], 1 - classes.codes) if flipped else classes


def class_index(option: str, label: Any, classes: Classes) -> int | None:
    """Return the index of a class that an option names, None for None; an OptionError if there is no such class."""
    if label is None:
        return None
    for place, known in enumerate(classes.plain):
        if known == label and isinstance(known, bool) == isinstance(label, bool | np.bool_):
            return place
    hint = did_you_mean(str(label), map(str, classes.plain))
    close = "" if hint.startswith("; known") else hint  # the classes are listed already
    raise OptionError(f"{option}={label!r} is not among the classes {classes.plain[:10]}{close}")


@dataclass(frozen=True, eq=False)
class WeightedRows(ClassifiedRows):
    """The rows of positive weight as a design, their targets, their weights, and the class weights by label.

    `classes` has only the classes of these rows; it is None for numbers.
    """

    design: Design
    y: NDArray[Any]
    classes: Classes | None
    weights: Floats | None
    class_weights: Mapping[Any, float] | None
    sample: SampleRows

    def problem(self, loss: Loss, y: NDArray[Any], labels: tuple[Any, ...] | None = None) -> Problem:
        """Return the unpenalised problem of a target: numbers, class codes, or signs of two labels (None: the rest)."""
        return Problem(self.design, y, loss, weights=self.weights, labels=labels)

    def binary_problems(self, loss: Loss) -> list[Problem]:
        """Return one problem for two classes, the second of which is +1, or one per class against the rest."""
        classes, labels = self.class_targets, self.labels
        if len(labels) == 2:
            return [self.problem(loss, classes.signs(), labels)]
        return [self.problem(loss, classes.signs(code), (None, label)) for code, label in enumerate(labels)]


def weigh(rows: TrainingRows, *, intercept: bool, class_weight: Any = None) -> WeightedRows:
    """Return the rows of positive weight, their sample weights multiplied by the class weights."""
    weights, classes, by_label = rows.weights, rows.classes, weights_by_label(rows, class_weight)
    if by_label is not None and classes is not None:
        row_weights = np.asarray([by_label.get(label, 0.0) for label in classes.plain])[classes.codes]
        weights = row_weights if weights is None else weights * row_weights
    design, sample = rows.design(intercept), SampleRows(rows.shape[0])
    if weights is None or weights.all():
        return WeightedRows(design, rows.y, classes, weights, by_label, sample)
    kept = weights > 0.0
    if classes is not None:
        classes = _present(Classes(classes.values, classes.codes[kept]))
    sample = SampleRows(sample.count, np.flatnonzero(kept))
    return WeightedRows(design.select(kept), rows.y[kept], classes, weights[kept], by_label, sample)


def weights_by_label(rows: TrainingRows, class_weight: Any) -> dict[Any, float] | None:
    """Return the class weights of the labels of positive sample weight, None if there are none."""
    weights, classes = rows.weights, rows.classes
    if class_weight is None or classes is None:
        return None
    used = slice(None) if weights is None else weights > 0.0
    present = _present(Classes(classes.values, classes.codes[used]))
    return class_weights(class_weight, present, None if weights is None else weights[used])


def checked_weights(weights: Floats | None, options: Options) -> Floats | None:
    """Return the sample weights of a fit, which must take them and, if they are frequencies, be whole numbers."""
    if weights is None:
        return None
    require_weighted(options)
    if getattr(options, "weight_kind", "precision") == "frequency" and (weights % 1.0).any():
        row = int(np.flatnonzero(weights % 1.0)[0])
        remedy = 'give whole numbers, or weight_kind="precision"'
        raise DataError(f"sample_weight has {weights[row]:g} in row {row}, which is no number of repetitions; {remedy}")
    return weights


def _present(classes: Classes) -> Classes:
    """Return the classes that occur; fewer than two raise a DataError."""
    used = np.flatnonzero(np.bincount(classes.codes, minlength=len(classes.values)))
    if len(used) < 2:
        seen = f"only one class, {classes.values[used].tolist()[0]!r}" if len(used) else "no labels"
        raise DataError(f"y has {seen}, of a weight above 0; a classifier needs rows of at least two classes")
    return Classes(classes.values[used], np.searchsorted(used, classes.codes))


def class_weights(class_weight: Any, classes: Classes, weights: Floats | None) -> dict[Any, float]:
    """Return the weight of each class: as given by label (1 if absent), or "balanced" by the classes' total weights."""
    plain = classes.plain
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in plain]
        if unknown:
            raise OptionError(f"class_weight names {unknown[0]!r}, which is not among the classes {plain[:10]}")
        values = np.asarray([class_weight.get(label, 1.0) for label in plain], dtype=np.float64)
    elif isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(classes.codes, weights=weights, minlength=len(plain))
        values = totals.sum() / (len(plain) * totals)
    else:
        raise OptionError(f'class_weight={class_weight!r} is not known; give None, "balanced", or a weight by class')
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise OptionError(f"class_weight={class_weight!r} is below 0 or not finite; give weights of at least 0")
    return dict(zip(plain, values.tolist(), strict=True))


@dataclass(eq=False)
class Fitted:
    """A fit: its options, its result in the units of the columns, its classes, and its inference.

    `link` turns scores into probabilities, and `tie` is the class of a score of 0. `strength`, `cv` and `scales` are
    those of a penalised fit: the strength used, the cross-validation that chose it, and the divisors of the columns.
    `sentences` tell what was decided, `needed` why there is a penalty that was not requested, `warnings` that classes
    are not as the fit needs them. Without inference, `no_inference` says why.
    """

    options: Any
    result: FitResult
    classes: NDArray[Any] | None = None
    link: Link = "none"
    tie: Side = "positive"
    strength: float | None = None
    cv: CrossValidation | None = None
    scales: Floats | None = None
    sentences: tuple[str, ...] = ()
    needed: str = ""
    warnings: tuple[str, ...] = ()
    inference: Inference | None = None
    no_inference: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def coef(self) -> Floats:
        """The coefficients, (K, p), with K = 1 for a single score."""
        return np.atleast_2d(self.result.coef)

    @property
    def intercept(self) -> Floats:
        """The intercepts, (K,)."""
        return np.atleast_1d(np.asarray(self.result.intercept, dtype=np.float64))

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The classes as plain values, in the order of the scores; None for numbers."""
        return None if self.classes is None else tuple(self.classes.tolist())

    @cached_property
    def table(self) -> InferenceTable | None:
        """The table of coefficients with classical standard errors, None for families without one."""
        return None if self.inference is None else self.inference.table()

    def __getstate__(self) -> dict[str, Any]:
        """Return the pickled state: everything but the rows."""
        inference = None if self.inference is None else self.inference.without_rows()
        return {**self.__dict__, "inference": inference}


def refused_inference(fitted: Fitted, design: Design, reason: str) -> RefusedInference:
    """Return the inference of a fit without standard errors: its coefficients, and the reason."""
    kind: Literal["linear", "logistic", "softmax"] = "linear"
    if fitted.labels is not None:
        kind = "logistic" if len(fitted.labels) == 2 else "softmax"
    coefs = np.column_stack([fitted.intercept, fitted.coef]) if design.virtual else fitted.coef
    outputs = [None] if len(coefs) == 1 else fitted.labels or ()
    return RefusedInference(reason, kind, design.names, list(zip(outputs, coefs, strict=True)), float(design.shape[0]))


def refuse_imputed(fitted: Fitted, X: Any, names: Sequence[str], imputed: Sequence[str]) -> None:
    """Replace the inference of a fit to X, if it has tests, by the reason that cells of some columns were imputed."""
    if imputed and fitted.inference is not None and not isinstance(fitted.inference, RefusedInference):
        design = make_design(X, intercept=fitted.options.fit_intercept, names=list(names))
        fitted.inference = refused_inference(fitted, design, Refusal.IMPUTED(names=list(imputed)))


def seeded(options: Any) -> Any:
    """Return options with `random_state` as a seed: None, the integer itself, or one drawn from the generator."""
    seed = getattr(options, "random_state", None)
    if isinstance(seed, np.random.RandomState):
        options.random_state = int(seed.randint(np.iinfo(np.int32).max))
    elif isinstance(seed, int | np.integer):
        options.random_state = int(require_number("random_state", seed, least=0))
    elif seed is not None:
        raise OptionError(f"random_state={seed!r} is no seed; give None, an integer or a RandomState")
    return options


def fit_family(rows: TrainingRows, options: Options, watch: Watch | None = None, **more: Any) -> Any:
    """Fit rows by the family of some checked options."""
    narrow = rows.shape[1] <= NARROW
    with naming_scales(lambda: make_design(rows.X, intercept=False, names=rows.names)), one_blas_thread(narrow):
        fitted: Fitted = import_module(f"separatrix.families.{options.module}").fit(
            rows, options, shown_progress(watch), **more
        )
        if not np.isfinite(fitted.result.coef).all():
            raise ValueError("coefficients must not contain infs or NaNs, and these do: rescale the columns")
    certificate = certificate_about(fitted.result.certificate, rows, options)
    fitted.result = replace(fitted.result, certificate=certificate)
    return fitted


def certificate_about(certificate: Certificate, rows: TrainingRows, options: Options) -> Certificate:
    """Return a certificate about the rows as they were given: all of them, with their sample and class weights."""
    data, by_label = certificate.data, weights_by_label(rows, getattr(options, "class_weight", None))
    weighted = rows.weights is not None
    class_weights = None if by_label is None else tuple(by_label[label] for label in data.labels)
    if by_label is not None and not all(by_label.values()):  # rows of such a class do not count
        weighted, class_weights = True, None
    own = replace(data, rows=rows.shape[0], weights=weighted, class_weights=class_weights)
    return certificate if own == data else certificate.about(own)


def convex_options(options: PenalisedOptions) -> ConvexOptions:
    """Return the options of the convex fit."""
    solver: Solver | None = SOLVERS.get(require_choice("solver", options.solver, ("auto", *SOLVERS)))
    convex = ConvexOptions(options.tol, options.max_passes, solver, keep_iterates=options.keep_iterates)
    if not isinstance(options, ElasticNetOptions):
        return convex
    if isinstance(solver, Gradient):
        solver = replace(solver, rate=options.rate)
    elif isinstance(solver, Stochastic):
        seed, order, keep = options.random_state, options.order, options.keep
        solver = replace(solver, rate=options.rate, schedule=options.schedule, order=order, keep=keep, seed=seed)
    return convex._replace(solver=solver, stop=options.stop)


def join_results(parts: Sequence[FitResult], classes: Sequence[Any], scheme: Scheme = "one-vs-rest") -> FitResult:
    """Return a single fit unchanged, or fits of each class or pair as one result: coef (K, p), intercept (K,)."""
    if len(parts) == 1:
        return parts[0]
    certificate = PartsCertificate.of([part.certificate for part in parts], classes, scheme)
    worst = min(parts, key=lambda part: (part.status.reached_goal, part.status not in NO_OPTIMUM))
    against = " against the rest" if scheme == "one-vs-rest" else ""
    messages = [f"{certificate.data.part_name(k)}{against}: {part.message}" for k, part in enumerate(parts)]
    facts = {name: sum(part.facts[name] for part in parts) for name in ADDITIVE_FACTS if name in parts[0].facts}
    return FitResult(
        coef=np.vstack([part.coef for part in parts]),
        intercept=np.asarray([float(part.intercept) for part in parts]),
        status=worst.status,
        message="; ".join(messages),
        objective=float(np.mean([part.objective for part in parts])),
        passes=sum(part.passes for part in parts),
        seconds=sum(part.seconds for part in parts),
        certificate=certificate,
        trace=worst.trace,
        facts=facts,
        provenance=worst.provenance,
        parts=tuple(parts),
        overlap=next((part.overlap for part in parts if part.overlap is not None), None),
    )


def join_fitted(parts: Sequence[Fitted], classes: NDArray[Any]) -> Fitted:
    """Return fits of the labels False (the rest) and True (a class) as one: a single fit for two classes, else K."""
    labels, first = classes.tolist(), parts[0]
    certificates = [_of_label(part.result.certificate, labels) for part in parts]
    own = [replace(part.result, certificate=each) for part, each in zip(parts, certificates, strict=True)]
    result = join_results(own, labels)
    return Fitted(
        first.options,
        result,
        classes,
        link="one_vs_rest" if len(parts) > 1 and first.link != "none" else first.link,
        tie=first.tie,
        strength=first.strength if len({part.strength for part in parts}) == 1 else None,
        scales=first.scales,
        sentences=tuple(dict.fromkeys(sentence for part in parts for sentence in part.sentences)),
        no_inference="each class was fitted against the rest by itself; the fits in `estimators_` have their inference",
        details={"parts": tuple(parts)},
    )


def _of_label(certificate: Certificate, labels: Sequence[Any]) -> Certificate:
    """Return the certificate of False and True as one of two labels or, of more, of a label against the rest."""
    data = certificate.data
    if len(labels) == 2:
        return certificate.about(replace(data, labels=tuple(labels)))
    if data.class_weights is not None:
        raise OptionError(
            "class_weight of a classifier in OneVsRest gives each class weights of its own, which no certificate has;"
            ' use multiclass="one_vs_rest" of the classifier, or sample_weight'
        )
    return certificate.about(replace(data, task="rest", labels=data.labels[1:], counts=data.counts[::-1]))


def pair_votes(scores: Floats, n_classes: int) -> Floats:
    """Return the votes for each class, (n, K), from the scores of all pairs; ties are broken by the sum of scores.

    A sum s adds s / (3 (|s| + 1)), less than a third of a vote, so that it only breaks ties.
    """
    votes, sums = np.zeros((2, len(scores), n_classes))
    for column, (first, second) in enumerate(combinations(range(n_classes), 2)):
        positive = scores[:, column] >= 0.0
        votes[positive, second] += 1.0
        votes[~positive, first] += 1.0
        sums[:, second] += scores[:, column]
        sums[:, first] -= scores[:, column]
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))
