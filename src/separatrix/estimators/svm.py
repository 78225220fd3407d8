"""The linear support vector machine as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

from separatrix.arrays import Ints
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.errors import require_choice, require_number
from separatrix.estimators.base import ClassTask, LinearClassifier, Penalised, apply_class_weight, drop_weightless
from separatrix.families.base import binary_targets, join_results
from separatrix.families.svm import fit_svm
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.result import FitResult
from separatrix.losses.margin import Hinge, SquaredHinge
from separatrix.problem import Problem
from separatrix.selection.cross_validation import StrengthChoice

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


class LinearSVM(Penalised, LinearClassifier):
    """The linear support vector machine with a soft margin; with more than two classes, each against the rest.

    Minimises ``Σ loss(y (w·x + b)) / n + strength/2 ‖w‖²``; the intercept is not penalised. C of scikit-learn and
    liblinear is 1 / (n · strength). If several intercepts minimise the hinge loss, the middle one is used.

    Parameters
    ----------
    strength : strength of the penalty, above 0; "cv" to choose it by cross-validation
    loss : "hinge" or "squared_hinge"
    solver : "auto", or the name of a solver, such as "interior_point"
    class_weight : None, "balanced", or a weight for each class; multiplied with the sample weights
    fit_intercept : whether scores have a constant
    tol : relative duality gap to reach
    max_passes : largest number of passes over the rows
    cv : number of folds for strength "cv"
    cv_choice : "one_standard_error" (the largest strength within one standard error of the best) or "best"
    strengths : number of strengths to try, or the strengths themselves
    random_state : seed of the folds; None gives the same folds each time

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearSVM(strength=0.01).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.9], [2.1]]).tolist(), model.result_.status.value
    ([0, 1], 'optimal')

    Reference: Cortes and Vapnik, Support-vector networks (1995).
    """

    l1_ratio = 0.0  # the penalty is L2

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        strength: float | Literal["cv"] = 1e-3,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        solver: str = "auto",
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_passes: int = 10_000,
        cv: int = 5,
        cv_choice: StrengthChoice = "one_standard_error",
        strengths: Any = 100,
        random_state: Any = None,
    ) -> None:
        self.strength = strength
        self.loss = loss
        self.solver = solver
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.cv = cv
        self.cv_choice = cv_choice
        self.strengths = strengths
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,), with weights (n,); rows of weight 0 are ignored."""
        options = ConvexOptions.named(self.solver, self.tol, self.max_passes)
        if not isinstance(self.strength, str):
            require_number("strength", self.strength, above=0.0)
        tasks, places = self._tasks(X, y, sample_weight)
        penalised = self._penalise([task.problem for task in tasks], options, [None] * len(tasks))
        fits = [
            fit_svm(problem, options, labels=(task.labels[0], task.labels[1]), class_weights=task.class_weights)
            for task, (problem, _) in zip(tasks, penalised, strict=True)
        ]
        result = join_results([_reindexed(fit, *places) for fit in fits], self.classes_.tolist())
        self.n_iter_ = max(1, round(result.passes))
        return self._store(replace(result, provenance={**result.provenance, **self._origin()}))

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        return [task.problem for task in self._tasks(X, y, sample_weight)[0]]

    def _tasks(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[ClassTask], tuple[Ints | None, Ints | None]]:
        """Return one task for two classes, else one per class, and the indices of rows left by each kind of weights."""
        loss = LOSSES[require_choice("loss", self.loss, LOSSES)]
        rows = drop_weightless(*self._design_and_labels(X, y), self._weights(sample_weight, X))
        weights, by_label = apply_class_weight(self.class_weight, rows.labels, rows.weights)
        weighted = drop_weightless(rows.design, rows.labels, weights)
        tasks = []
        for target in binary_targets(self._classes(weighted.labels)):
            pair = by_label is not None and target.labels[0] is not None
            class_weights = tuple(by_label[label] for label in target.labels) if by_label and pair else None
            problem = Problem(weighted.design, target.signs, loss, weights=weighted.weights)
            tasks.append(ClassTask(problem, target.labels, class_weights))
        return tasks, (rows.places, weighted.places)


def _reindexed(result: FitResult, *places: Ints | None) -> FitResult:
    """Return a result whose dual point indexes all rows, including those of weight 0."""
    certificate = result.certificate
    for indices in reversed(places):
        if indices is not None and isinstance(certificate, OptimalityCertificate) and certificate.dual_rows is not None:
            certificate = replace(certificate, dual_rows=indices[certificate.dual_rows])
    return replace(result, certificate=certificate)
