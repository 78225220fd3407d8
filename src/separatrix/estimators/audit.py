"""An audit of a fitted scikit-learn or statsmodels model: its suboptimality, and whether an optimum exists.

The model's coefficients are put into the one objective, at its own strength and with an unpenalised intercept; a fit of
ours to a certified gap gives the minimum. Separability of the classes and the rank of the columns are determined from
the data. Regularisation is converted by

    C           strength = 1/(Σ sᵢ C), sᵢ the class weights
    alpha       strength = alpha/n for Ridge, alpha for Lasso, ElasticNet, SGDClassifier and Perceptron

A model is recognised by the name of its class, so that statsmodels is never imported. Cost: a fit, a check of
separability, and a Gram matrix for the rank.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.rank import dependent_columns
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.families.base import class_weights
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.labels import find_classes
from separatrix.losses import Hinge, Logistic, Loss, PerceptronLoss, Softmax, Squared, SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.check import check_separability

CERTIFIED_GAP = 1e-9  # relative, of our own fit
NEAR = 1e-6  # relative: an objective this close to the minimum counts as optimal
MOST_COLUMNS = 3000  # up to which the rank is computed
WIDTH = 100


@dataclass(frozen=True)
class Audit:
    """The result of an audit: the objective at the model's coefficients, its minimum, and what is wrong.

    `gap` is relative to the minimum (to 1e-8 of the loss at 0, if that is larger). `separability` is a certificate,
    None for regressions. `rank` is that of all columns, the intercept included, None if there are too many columns.
    `findings` are sentences, empty if nothing is wrong.
    """

    model: str
    objective: float
    least: float
    gap: float
    strength: float
    l1_ratio: float
    penalises_intercept: bool
    rank: int | None
    columns: int
    separability: SeparabilityCertificate | None
    findings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON values."""
        plain = {name: value for name, value in vars(self).items() if name != "separability"}
        verdict = None if self.separability is None else self.separability.to_dict()
        return {**plain, "findings": list(self.findings), "separability": verdict, "passed": self.passed}

    def __str__(self) -> str:
        lines = [
            f"Audit of {self.model}",
            f"  objective {self.objective:.10g}, minimum {self.least:.10g}"
            + f" (relative gap {self.gap:.2g})" * bool(self.least),
            f"  rank {self.rank if self.rank is not None else 'not computed'} of {self.columns} columns",
        ]
        if self.separability is not None:
            lines.append(f"  classes: {self.separability.verdict}")
        for finding in self.findings or ("nothing was found",):
            lines += textwrap.wrap(f"- {finding}", WIDTH, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)


def audit(model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Audit:
    """Audit a fitted scikit-learn or statsmodels model on its training data.

    Parameters
    ----------
    model : a fitted LogisticRegression, LinearSVC, SGDClassifier, Perceptron, LinearRegression, Ridge, Lasso or
        ElasticNet of scikit-learn, or the results of Logit, MNLogit, GLM, OLS or WLS of statsmodels
    X, y : the training data; results of statsmodels bring their own, including the constant column
    sample_weight : (n,) weights of the rows in that fit, if any

    Examples
    --------
    >>> import separatrix as sx
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = sx.load_demo("breast-cancer")
    >>> print(sx.audit(LogisticRegression(solver="newton-cholesky", max_iter=1000).fit(X, y), X, y).gap < 1e-6)
    True
    """
    if X is None or y is None:
        inner: Any = getattr(model, "model", None)
        if not hasattr(inner, "exog"):
            raise DataError("give X and y, the data that the model was fitted to")
        X, y = inner.exog, inner.endog
    labels = np.asarray(y)
    peer = read_peer(model, labels, sample_weight)
    design = make_design(X, intercept=peer.fit_intercept)
    if not np.isfinite(peer.coef).all():
        raise DataError(f"the coefficients of {peer.name} are not all finite")
    if design.shape[1] != len(peer.coef):
        raise DataError(f"X has {design.shape[1]} columns, intercept included; the model has {len(peer.coef)}")
    values = [_values(problem, coef) for problem, coef in _problems(peer, design, labels)]
    objective, least, scale = (float(np.mean(numbers)) for numbers in zip(*values, strict=True))
    separability = None
    if peer.classes is not None:
        separability = check_separability(X, labels, fit_intercept=peer.fit_intercept, sample_weight=sample_weight)
    audited = Audit(
        model=peer.name,
        objective=objective,
        least=least,
        gap=max(objective - least, 0.0) / max(least, scale),
        strength=peer.strength,
        l1_ratio=peer.l1_ratio,
        penalises_intercept=peer.penalises_intercept,
        rank=_rank(design),
        columns=design.shape[1],
        separability=separability,
        findings=(),
    )
    return replace(audited, findings=tuple(_findings(audited, peer.loss)))


def _problems(peer: PeerModel, design: Design, labels: NDArray[Any]) -> list[tuple[Problem, Floats]]:
    """Return each objective that the model minimises, and its coefficients there."""
    loss, penalty = peer.loss, make_penalty(peer.strength, peer.l1_ratio)
    if peer.classes is None:
        return [(Problem(design, labels.astype(np.float64), loss, penalty, peer.weights), peer.coef[:, 0])]
    unknown = ~np.isin(labels, peer.classes)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        label = labels[row : row + 1].tolist()[0]
        raise DataError(f"row {row} has label {label!r}; the model was fitted to {peer.classes.tolist()}")
    codes = np.searchsorted(peer.classes, labels)
    if isinstance(loss, Softmax):
        return [(Problem(design, codes, loss, penalty, peer.weights), peer.coef)]
    places = range(len(peer.classes)) if peer.coef.shape[1] > 1 else (1,)  # each class against the rest
    signs = [np.where(codes == place, 1.0, -1.0) for place in places]
    return [(Problem(design, y, loss, penalty, peer.weights), peer.coef[:, k]) for k, y in enumerate(signs)]


def _values(problem: Problem, coef: Floats) -> tuple[float, float, float]:
    """Return the objective at `coef`, its minimum (0 if that is only approached), and its scale.

    The minimum of the perceptron loss is 0, attained at zero weights for any data.
    """
    value, least = problem.value(coef), 0.0
    if not isinstance(problem.loss, PerceptronLoss):
        bound = fit_convex(problem, ConvexOptions(tol=CERTIFIED_GAP)).bound
        least = min(bound.primal, value) if bound.primal > problem.least_scale else 0.0
    return value, least, problem.least_scale


def _rank(design: Design) -> int | None:
    """Return the rank of the columns; None if there are too many."""
    return len(dependent_columns(design, None).retained) if design.shape[1] <= MOST_COLUMNS else None


def _findings(audited: Audit, loss: Loss) -> Iterator[str]:
    """Yield what is wrong with a model."""
    verdict = "" if audited.separability is None else audited.separability.verdict
    unbounded = verdict in {"separable", "quasi"} and audited.strength == 0.0 and loss.has_curvature
    if unbounded:
        yield (
            f"the classes are {'completely' if verdict == 'separable' else 'quasi-completely'} separated and there is"
            " no penalty, so no maximum exists: coefficients and standard errors depend on where it stopped"
        )
    if audited.penalises_intercept:
        yield "its intercept was penalised, so its answer depends on the origin of the columns"
    if isinstance(loss, PerceptronLoss):
        if verdict == "separable" and audited.gap:
            yield "the classes can be separated, but not by these weights"
    elif audited.gap > NEAR and not unbounded:
        yield f"it stopped at a relative gap of {audited.gap:.2g}; let it run longer, or scale the columns"
    if audited.rank is not None and audited.rank < audited.columns and audited.strength == 0.0:
        yield f"the {audited.columns} columns have rank {audited.rank}, so its coefficients are not unique"


@dataclass(frozen=True)
class PeerModel:
    """A fitted model with its objective; `coef` is (p, K), or (p + 1, K) with the intercept first."""

    name: str
    coef: Floats
    fit_intercept: bool
    classes: NDArray[Any] | None
    weights: Floats | None
    loss: Loss
    strength: float = 0.0
    l1_ratio: float = 0.0
    penalises_intercept: bool = False


def read_peer(model: Any, y: NDArray[Any], sample_weight: Any = None) -> PeerModel:
    """Return a fitted scikit-learn model, or results of statsmodels, in terms of the one objective."""
    kind, inner = type(model).__name__, type(getattr(model, "model", None)).__name__
    if type(model).__module__.startswith("separatrix."):
        raise OptionError(f"{kind} of separatrix brings its evidence along: see its certificate_")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if kind in OBJECTIVES:
        return _scikit_learn(model, y, weights)
    if inner in STATSMODELS:
        return _statsmodels(model, y, weights)
    known = (*OBJECTIVES, *STATSMODELS)
    raise OptionError(f"{kind} is not known to audit{did_you_mean(kind, known)}; known are {', '.join(known)}")


def _scikit_learn(model: Any, y: NDArray[Any], weights: Floats | None) -> PeerModel:
    kind = type(model).__name__
    if not hasattr(model, "coef_"):
        raise DataError(f"{kind} is not fitted yet; fit it before the audit")
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    if model.fit_intercept:
        coef = np.vstack([np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), coef.shape[1:]), coef])
    if getattr(model, "class_weight", None) is not None:
        found = find_classes(y)
        by_class = np.asarray(list(class_weights(model.class_weight, found, weights).values()))[found.codes]
        weights = by_class if weights is None else np.asarray(by_class * weights)
    objective = OBJECTIVES[kind](model, float(len(y) if weights is None else weights.sum()))
    classes = getattr(model, "classes_", None)
    return PeerModel(f"scikit-learn's {kind}", coef, bool(model.fit_intercept), classes, weights, *objective)


Objective = tuple[Loss, float, float, bool]  # loss, strength, l1_ratio, whether the intercept is penalised


def _logistic(model: Any, total: float) -> Objective:
    liblinear, penalty = model.solver == "liblinear", getattr(model, "penalty", "deprecated")
    mixed = float(getattr(model, "l1_ratio", None) or 0.0)
    ratio = {"l1": 1.0, "elasticnet": mixed, "deprecated": mixed}.get(penalty, 0.0)
    strength = 0.0 if penalty is None else 1.0 / (total * float(model.C))
    loss = Softmax() if len(model.classes_) > 2 and not liblinear else Logistic()
    return (loss, strength, ratio, liblinear and bool(model.fit_intercept) and strength > 0.0)


def _linear_svc(model: Any, total: float) -> Objective:
    loss: Loss = Hinge() if model.loss == "hinge" else SquaredHinge()
    return loss, 1.0 / (total * float(model.C)), float(model.penalty == "l1"), bool(model.fit_intercept)


def _sgd(model: Any, total: float) -> Objective:  # noqa: ARG001  # its alpha is the strength
    losses: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "log_loss": Logistic()}
    losses["perceptron"] = PerceptronLoss()
    if model.loss not in losses:
        raise OptionError(f"the loss {model.loss!r} is not one of separatrix; known are {', '.join(losses)}")
    ratio = {"l1": 1.0, "elasticnet": float(model.l1_ratio or 0.0)}.get(model.penalty, 0.0)
    return losses[model.loss], float(model.alpha) if model.penalty else 0.0, ratio, False


def _least_squares(model: Any, total: float) -> Objective:
    kind = type(model).__name__
    strength = float(getattr(model, "alpha", 0.0)) / (total if kind == "Ridge" else 1.0)
    ratio = {"Lasso": 1.0, "ElasticNet": float(getattr(model, "l1_ratio", 0.0) or 0.0)}.get(kind, 0.0)
    return Squared(), strength, ratio, False


OBJECTIVES: Mapping[str, Callable[[Any, float], Objective]] = {
    "LogisticRegression": _logistic,
    "LinearSVC": _linear_svc,
    **dict.fromkeys(("SGDClassifier", "Perceptron"), _sgd),
    **dict.fromkeys(("LinearRegression", "Ridge", "Lasso", "ElasticNet"), _least_squares),
}
STATSMODELS = ("Logit", "MNLogit", "GLM", "OLS", "WLS")


def _statsmodels(results: Any, y: NDArray[Any], weights: Floats | None) -> PeerModel:
    """Read unpenalised results, whose X includes the constant column."""
    kind = type(results.model).__name__
    family = type(getattr(results.model, "family", None)).__name__
    if kind == "GLM" and family not in {"Binomial", "Gaussian"}:
        raise OptionError(f"a GLM of family {family} is not one of separatrix; Binomial and Gaussian are")
    params = np.asarray(results.params, dtype=np.float64).reshape(np.shape(results.params)[0], -1)
    loss: Loss = Squared() if kind in {"OLS", "WLS"} or family == "Gaussian" else Logistic()
    if kind == "MNLogit":
        loss, params = Softmax(), np.column_stack([np.zeros(len(params)), params])
    classes = None if loss.target == "numbers" else np.unique(y)
    return PeerModel(f"statsmodels' {kind}", params, False, classes, weights, loss)
