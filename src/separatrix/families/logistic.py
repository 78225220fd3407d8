"""Logistic regression: two classes, several by softmax, or one-vs-rest.

At strength 0 the fit is the maximum likelihood estimate, which does not exist for separable classes: the fit then stops
as soon as that is certain and says so. The curvature at the optimum proves that the maximum exists; where it does not,
separability is decided by a search, which starts from the fit. The optimum is where inference starts. Strength "auto"
means maximum likelihood if it exists, or if at least some columns have an estimate (the others diverge, and rows that
they decide get probabilities of nearly 0 or 1), else a penalty with a reason. The intercept is never penalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.curvature import dependence_clause
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate
from separatrix.certificates.rays import Relation
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import OptionError, SeparationError, counted
from separatrix.families.aliased import ReducedColumns, reduced_columns
from separatrix.families.base import (
    Fitted,
    Link,
    TrainingRows,
    WeightedRows,
    certificate_about,
    class_index,
    convex_options,
    join_results,
    weigh,
)
from separatrix.families.options import LogisticOptions
from separatrix.families.penalised import penalise, scale_rows
from separatrix.fit.convex import ConvexFit, ConvexOptions, fit_convex, linear_result
from separatrix.fit.result import AtLeast, FitResult, Rule, Status, separation_rule
from separatrix.fit.run import Watch
from separatrix.inference import eligibility
from separatrix.inference.firth import FirthFit, fit_firth
from separatrix.inference.fitted import LogisticModel, RefusedInference
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.mle import held_relations
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem
from separatrix.separability.check import check_existence, describe_divergence
from separatrix.solvers.stochastic import Stochastic, StochasticState

ROWS_PER_COEFFICIENT = 2  # below, strength "auto" does not try maximum likelihood
MOST_COEFFICIENTS = 1500  # above, neither
UNKNOWN = "it is not known whether the likelihood has a maximum"
PARTIAL_FIT = "standard errors are not available after partial fits, which see some of the rows; use fit"


@dataclass(eq=False)
class LogisticFitted(Fitted):
    """A fit with, at strength 0, the certificates of separability, one per fit, and the bias-reduced fit if needed."""

    existence: list[SeparabilityCertificate] | None = None
    firth: FirthFit | None = None

    @cached_property
    def limits(self) -> list[dict[str, float]] | None:
        """By name, the limit of each coefficient: a number, ±inf, or nan if it is not identified; one per fit."""
        return None if self.inference is None else self.inference.limits()

    def __getstate__(self) -> dict[str, Any]:
        _ = self.limits  # which need the rows
        return {**super().__getstate__(), "firth": None if self.firth is None else self.firth.without_rows()}


def fit(
    rows: TrainingRows, options: LogisticOptions, watch: Watch | None = None, start: Floats | None = None
) -> LogisticFitted:
    """Fit classes; `start` has the initial coefficients, one column per score, intercepts first."""
    rows = rows.ordered(options.positive, options.reference_class)
    if options.bias_reduction and len(rows.labels) > 2:
        raise OptionError(f"bias_reduction=True is for two classes, not for {len(rows.labels)}; leave it out")
    convex, needed = convex_options(options), _too_few(rows) if _may_need_penalty(options) else ""
    if options.may_be_unpenalised and not needed:
        weighted = weigh(rows, intercept=options.fit_intercept, class_weight=options.class_weight)
        columns = reduced_columns(weighted.design, weighted.weights) if options.aliased == "drop" else None
        if columns is None:
            outcome = _maximise(rows, weighted, options, start, watch)
        else:
            outcome = _maximise_reduced(columns, rows, options, start, watch)
        if not isinstance(outcome, str):
            return outcome
        needed = outcome
    return _fit_penalised(rows, options, start, needed, lambda task, begin: _solve(task, convex, begin, watch)[1])


def _may_need_penalty(options: LogisticOptions) -> bool:
    """Tell whether a penalty is chosen where no maximum of the likelihood is proved."""
    return options.strength == "auto" and not options.bias_reduction and options.on_separation != "firth"


def problems(rows: TrainingRows, options: LogisticOptions) -> list[Problem]:
    """Return the unpenalised problems: one for two classes or softmax, else one per class against the rest."""
    return _problems(weigh(rows, intercept=options.fit_intercept, class_weight=options.class_weight), options)


def _problems(rows: WeightedRows, options: LogisticOptions) -> list[Problem]:
    if len(rows.labels) == 2 or options.multiclass != "softmax":
        return rows.binary_problems(Logistic())
    return [rows.problem(Softmax(), rows.class_targets.codes, rows.labels)]


def _starts(start: Floats | None, problems: Sequence[Problem], rows: WeightedRows) -> list[Floats | None]:
    """Return the initial coefficients of each problem: the given ones if their shape is right."""
    shape = rows.design.shape[1], 1 if len(rows.labels) == 2 else len(rows.labels)
    if start is None or start.shape != shape:
        return [None] * len(problems)
    return [start] if problems[0].loss.target == "classes" else list(start.T)


# Without a penalty


def _maximise(
    rows: TrainingRows, weighted: WeightedRows, options: LogisticOptions, start: Floats | None, watch: Watch | None
) -> LogisticFitted | str:
    """Return the fit without a penalty or, if strength is "auto" and no maximum is proved, why a penalty is needed.

    Where columns are collinear and that leaves separation undecided, or keeps the bias from being reduced, the fit is
    that of a largest set of independent columns.
    """
    convex, tasks = convex_options(options), _problems(weighted, options)
    starts = _starts(start, tasks, weighted)
    fits = [_fit_likelihood(task, convex, begin, watch) for task, begin in zip(tasks, starts, strict=True)]
    unproved = _unproved(fits)
    undecided = unproved is not None and unproved.verdict == "undecided"
    reduced = options.bias_reduction or (unproved is not None and options.on_separation == "firth")
    if undecided or reduced:
        columns = reduced_columns(weighted.design, weighted.weights)
        if columns is not None:
            return _maximise_reduced(replace(columns, arbitrary=True), rows, options, start, watch)
    if unproved is None or not _may_need_penalty(options) or _some_estimable(fits):
        existence = _existence_about([each.existence for each in fits], rows, options)
        return _unpenalised(weighted, tasks, fits, existence, options)
    if unproved.verdict == "undecided":
        return UNKNOWN
    return f"{_separated(unproved)}, so that the likelihood has no maximum{describe_divergence(unproved)}"


def _maximise_reduced(
    columns: ReducedColumns, rows: TrainingRows, options: LogisticOptions, start: Floats | None, watch: Watch | None
) -> LogisticFitted | str:
    """Return the same for the retained columns, with all columns in the fit."""
    reduced = columns.rows(rows)
    weighted = weigh(reduced, intercept=options.fit_intercept, class_weight=options.class_weight)
    outcome = _maximise(reduced, weighted, options, columns.start(start), watch)
    if isinstance(outcome, str):
        return outcome
    fitted = columns.fitted(outcome)
    existence = [columns.certificate(each) for each in outcome.existence or ()]
    return replace(fitted, existence=existence)


def _solve(
    problem: Problem, convex: ConvexOptions, start: Floats | None, watch: Watch | None = None, *rules: Rule
) -> tuple[ConvexFit, FitResult]:
    """Return the convex fit of a problem, and its result."""
    fit = fit_convex(problem, convex, start=start, watch=watch, extra_rules=rules)
    return fit, linear_result(problem, fit, convex)


class _Likelihood(NamedTuple):
    """The result of a fit at strength 0, its certificate, and whether the classes can be separated."""

    result: FitResult
    certificate: LikelihoodCertificate
    existence: SeparabilityCertificate


def _fit_likelihood(problem: Problem, convex: ConvexOptions, start: Floats | None, watch: Watch | None) -> _Likelihood:
    """Maximise the likelihood, and judge whether it has a maximum: by the curvature, or else by a search."""
    fit, result = _solve(problem, convex, start, watch, separation_rule(problem))
    optimality, searched = result.certificate, None
    assert isinstance(optimality, OptimalityCertificate)
    if optimality.held or optimality.radii is None:
        searched = check_existence(problem, problem.labels, fit, watch).about(optimality.data)
    decided = searched is not None and (searched.verdict != "undecided" or optimality.radii is None)
    existence = searched if decided else None
    certificate = LikelihoodCertificate(data=optimality.data, optimality=optimality, existence=existence)
    existence = searched or certificate.separability
    assert existence is not None  # columns are held only in fits whose classes are searched
    status, message, gap = result.status, result.message, result.facts["relative_gap"]
    if certificate.exists is None:
        message = f"{message}; {existence.claim}"
    elif not certificate.exists:
        status, passes = Status.SEPARATED, counted(round(result.passes), "pass")
        bound = f" (the objective is within {gap:.2g} of its bound)" if gap <= convex.tol else ""
        message = f"stopped after {passes}: {_separated(existence)}, so no finite maximum exists{bound}"
    provenance = {**result.provenance, "existence": existence.verdict}
    result = replace(result, status=status, message=message, certificate=certificate, provenance=provenance)
    return _Likelihood(result, certificate, existence)


def _unproved(fits: Sequence[_Likelihood]) -> SeparabilityCertificate | None:
    """Return the first of some fits' existence that is not proved; None if all are."""
    return next((each.existence for each in fits if not each.certificate.exists), None)


def _some_estimable(fits: Sequence[_Likelihood]) -> bool:
    """Tell whether each fit has a maximum, or a limit in which the coefficient of some column is finite."""
    return all(each.certificate.exists or _has_finite_column(each.existence) for each in fits)


def _has_finite_column(existence: SeparabilityCertificate) -> bool:
    if existence.proof is None or existence.verdict != "quasi":
        return False
    p = len(existence.names)
    moving = {column for relation in existence.relations for column, value in relation.items() if value}
    columns = range(p * max(1, len(existence.classes) - 1))
    return any(column % p >= existence.data.intercept and column not in moving for column in columns)


def _existence_about(
    existence: Sequence[SeparabilityCertificate], rows: TrainingRows, options: LogisticOptions
) -> list[SeparabilityCertificate]:
    """Return certificates about the rows as they were given."""
    joined: Certificate = existence[0]
    if len(existence) > 1:
        joined = PartsCertificate.of(existence, [each.data.labels[0] for each in existence], "one-vs-rest")
    own = certificate_about(joined, rows, options)
    return list(cast("Any", own.parts if isinstance(own, PartsCertificate) else [own]))


def _separated(existence: SeparabilityCertificate) -> str:
    return f"the classes are {'completely' if existence.verdict == 'separable' else 'quasi-completely'} separated"


def _unpenalised(
    rows: WeightedRows,
    problems: Sequence[Problem],
    fits: Sequence[_Likelihood],
    existence: list[SeparabilityCertificate],
    options: LogisticOptions,
) -> LogisticFitted:
    unproved = _unproved(fits)
    firth, sentence = None, "no penalty, as given"
    if options.bias_reduction:
        firth, sentence = _reduce_bias(problems[0], rows), "no penalty: bias-reduced estimates (Firth), as given"
    elif unproved is None:
        sentence = f"no penalty: the likelihood has a maximum{_proved(fits)}"
    elif options.on_separation == "firth":
        firth, sentence = _reduce_bias(problems[0], rows), "no penalty: bias-reduced estimates (Firth)"
    elif options.strength == "auto":
        sentence = (
            f"no penalty, as some coefficients have finite estimates{describe_divergence(unproved)}; rows that the"
            " diverging coefficients classify get probabilities of 0 or 1"
        )
    result = join_results([each.result for each in fits], rows.labels) if firth is None else firth.result
    result = replace(result, provenance={**result.provenance, "weight_kind": options.weight_kind})
    fitted = LogisticFitted(
        options,
        _with_reference(result, rows, options, penalised=False),
        rows.class_targets.values,
        link=_link(rows, options),
        strength=0.0,
        sentences=(sentence,),
        warnings=() if unproved is None or firth is not None else _separation_warnings(unproved, options),
        existence=existence,
        firth=firth,
    )
    fitted.inference = _inference(rows, problems, fits, fitted)
    return _noting_class_weights(fitted, rows)


def _proved(fits: Sequence[_Likelihood]) -> str:
    """Return over which columns the maximum of some fits is proved, and whether it is unique."""
    held = next((each.certificate.optimality for each in fits if each.certificate.optimality.held), None)
    if held is not None:
        return f"{dependence_clause(held)}, proved"
    if any("aliased" in each.existence.coefficient_status.values() for each in fits):
        return " (proved), which is not unique, as some columns are perfectly collinear with others"
    return ", and it is unique (proved)"


def _reduce_bias(problem: Problem, rows: WeightedRows) -> FirthFit:
    if len(rows.labels) > 2 or rows.class_weights is not None:  # with bias_reduction refused before any fit
        what = f"{len(rows.labels)} classes" if len(rows.labels) > 2 else "class_weight"
        raise OptionError(f'on_separation="firth" is for two classes of plain or weighted rows, not for {what}')
    return fit_firth(problem, problem.labels)


def _separation_warnings(unproved: SeparabilityCertificate, options: LogisticOptions) -> tuple[str, ...]:
    """Return a warning that no maximum is proved to exist, unless it is to be ignored; or raise it."""
    head = UNKNOWN if unproved.verdict == "undecided" else "the likelihood has no maximum"
    message = (
        f"{head}: {unproved.claim.split(';')[0]}{describe_divergence(unproved)}; the coefficients say where the"
        ' fit stopped, not what they converge to. Use strength > 0, or on_separation="firth"'
    )
    if options.on_separation == "raise":
        raise SeparationError(message)
    return () if options.on_separation == "ignore" else (message,)


def _inference(
    rows: WeightedRows, problems: Sequence[Problem], likelihoods: Sequence[_Likelihood], fitted: LogisticFitted
) -> LogisticModel:
    """Return the inference of a maximum likelihood fit, which starts at its coefficients."""
    options, weights, weighting = fitted.options, rows.weights, ""
    if options.class_weight is not None:
        weighting = eligibility.CLASS_WEIGHTS
    elif options.weight_kind != "frequency":
        weighting = 'precision weights (weight_kind="precision")'
    if weights is None or (weights == 1.0).all():
        weighting = ""
    reference = class_index("reference_class", options.reference_class, rows.class_targets) or 0
    coef, intercept = fitted.coef, fitted.intercept
    if fitted.firth is not None:
        result = likelihoods[0].result
        coef, intercept = np.atleast_2d(result.coef), np.atleast_1d(result.intercept)
    flat = np.column_stack([intercept, coef]) if options.fit_intercept else coef
    softmax = problems[0].loss.target == "classes"
    coefs = [(flat[1:] - flat[0]).ravel()] if softmax else list(flat)
    fits = []
    for problem, (_, certificate, existence), own in zip(problems, likelihoods, coefs, strict=True):
        labels = tuple("the rest" if label is None else label for label in problem.labels)
        collinear: tuple[Relation, ...] = ()
        if certificate.exists and certificate.optimality.held:
            collinear = held_relations(problem, certificate.optimality.dependence, existence)
        fits.append(LikelihoodFit(problem, existence, own, labels, weighting, reference, collinear))
    return LogisticModel(tuple(fits), rows.labels, rows.sample, fitted.firth, test=options.test)


def _noting_class_weights(fitted: LogisticFitted, rows: WeightedRows) -> LogisticFitted:
    """Say in the message and the table of a fit how class weights change its probabilities."""
    factors = [] if rows.class_weights is None else [rows.class_weights[label] for label in rows.labels]
    if len(set(factors)) < 2:
        return fitted
    note = (
        "class_weight weights the classes unequally: probabilities are not the rates of the rows; for these, fit"
        " without it"
    )
    if len(factors) == 2:
        ratio, threshold = factors[1] / factors[0], fitted.options.threshold
        odds = threshold / (1.0 - threshold) / ratio if threshold < 1.0 else math.inf
        note = (
            f"class_weight multiplies the odds of {rows.labels[1]!r} by {ratio:.4g}: probabilities are"
            f" {'above' if ratio > 1.0 else 'below'} the rates of the rows; for these, fit without it, and for"
            f" similar decisions with threshold={1.0 / (1.0 + 1.0 / odds):.4g}"
        )
    fitted.result = replace(fitted.result, message=f"{fitted.result.message}; {note}")
    assert isinstance(fitted.inference, LogisticModel | RefusedInference)
    fitted.inference = replace(fitted.inference, notes=(note,))
    return fitted


def _with_reference(result: FitResult, rows: WeightedRows, options: LogisticOptions, *, penalised: bool) -> FitResult:
    """Return softmax coefficients relative to the reference class, or centred over the classes."""
    place = class_index("reference_class", options.reference_class, rows.class_targets)
    if result.coef.ndim == 1 or options.multiclass != "softmax":
        return result
    only_intercept = penalised and place is None

    def relative(coef: Floats, axis: int) -> Floats:
        reference = coef.mean(axis, keepdims=True) if place is None else coef.take([place], axis)
        return np.asarray(coef - reference)

    coefs = result.trace.coefs
    if coefs is not None:
        columns = slice(0, int(options.fit_intercept)) if only_intercept else slice(None)
        coefs = coefs.copy()
        coefs[..., columns] = relative(coefs[..., columns], 1)
    return replace(
        result,
        coef=result.coef if only_intercept else relative(result.coef, 0),
        intercept=relative(result.intercept, 0),
        trace=replace(result.trace, coefs=coefs),
    )


def _link(rows: WeightedRows, options: LogisticOptions) -> Link:
    return "sigmoid" if len(rows.labels) == 2 else options.multiclass


# One pass


def fit_pass(
    rows: TrainingRows,
    options: LogisticOptions,
    states: Sequence[StochasticState] | None = None,
    start: Floats | None = None,
) -> LogisticFitted:
    """Make one stochastic pass over some rows, from the states of earlier passes, or from a start as in `fit`.

    The states of the fit are in its `details`. Its certificate is about these rows only, and existence is not judged.
    """
    wholes = {"strength": isinstance(options.strength, str), "class_weight": options.class_weight is not None}
    wholes["bias_reduction"] = options.bias_reduction
    columns = {"scaling": options.scaling != "none", "aliased": options.aliased != "keep"}
    for name, given in {**wholes, **columns}.items():
        if given:
            raise OptionError(f"{name}={getattr(options, name)!r} needs all rows; leave it out of partial fits")
    convex, earlier, used = convex_options(options), iter(states or ()), []
    assert isinstance(convex.solver, Stochastic)
    solver = convex.solver

    def solve(problem: Problem, begin: Floats | None) -> FitResult:
        state = next(earlier, None) or solver.first_state(problem.zero_coef() if begin is None else begin)
        used.append(state)
        one_pass = convex._replace(solver=replace(solver, state=state), stop="change")
        once = AtLeast("steps", 1, Status.PARTIAL)
        return _solve(problem, one_pass, state.result(int(options.fit_intercept)), None, once)[1]

    rows = rows.ordered(options.positive, options.reference_class)
    fitted = _fit_penalised(rows, options, start, "", solve)
    assert isinstance(fitted.inference, RefusedInference)
    fitted.inference = replace(fitted.inference, reason=PARTIAL_FIT)
    fitted.details = {"states": used}
    return fitted


# With a penalty


def _too_few(rows: TrainingRows) -> str:
    """Return why strength "auto" does not try maximum likelihood; empty if it does."""
    n, p = rows.shape
    coefficients = (p + 1) * max(1, len(rows.labels) - 1)
    if coefficients > MOST_COEFFICIENTS:
        return f"{coefficients:,} coefficients are too many to estimate without one"
    if n < ROWS_PER_COEFFICIENT * coefficients:
        return f"{counted(n, 'row')} are few for {counted(coefficients, 'coefficient')}"
    return ""


def _fit_penalised(
    rows: TrainingRows,
    options: LogisticOptions,
    start: Floats | None,
    needed: str,
    solve: Callable[[Problem, Floats | None], FitResult],
) -> LogisticFitted:
    """Fit with a penalty; `needed` is the reason for one that was not requested, `solve` fits one problem."""
    scaled = scale_rows(rows, options.scaling)
    weighted = weigh(scaled.rows, intercept=options.fit_intercept, class_weight=options.class_weight)
    penalised = penalise(scaled, _problems(weighted, options), options, needed)
    starts = penalised.starts(_starts(scaled.start(start), penalised.problems, weighted))
    parts = [solve(problem, begin) for problem, begin in zip(penalised.problems, starts, strict=True)]
    result = penalised.in_units(join_results(parts, weighted.labels), options)
    result = _with_reference(result, weighted, options, penalised=True)
    classes, link = weighted.class_targets.values, _link(weighted, options)
    fitted = LogisticFitted(options, result, classes, link=link, **penalised.facts)
    fitted.inference = penalised.no_inference(fitted)
    return _noting_class_weights(fitted, weighted)
