"""The judge: whether what a certificate states is true of some data, by the oracles alone.

`fault` takes a certificate as JSON values, with the data that it was accepted for, and returns why its statement is
false; an empty text if it is true. Kinds in rational arithmetic, optima and kernels are judged without tolerance, up to
the rounding of the runs that a certificate replays. The kinds that `TOLERANCE` names compare floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from oracle_rational import dot, rank, rational_rows, rationals
from oracle_separability import rays_of, verdict_of

import oracles
from oracles import mp, real

TOLERANCE = 1e-8  # relative, of the kinds generative and bias-reduction
SMALLEST = mp.mpf("1e-8")  # of the objective of a constant score: the least value that gaps are relative to
PRECISION = mp.mpf("1e-80")  # of the objective: differences that the oracle of minima does not resolve
ROUNDING = 1e-9  # relative: a score of a run in floats, or weights after it
SHIFT = 1e-7  # relative: what may be added to the diagonal of a kernel matrix that is the data
MOST_STEPS = 400  # of a run that tries to break a bound


class Rows(NamedTuple):
    """The rows that count: mapped, with codes, signs or numbers, and weights."""

    X: Any
    y: Any
    weights: Any
    intercept: bool
    kernel: dict[str, Any] | None

    @property
    def signs(self) -> Any:
        return np.where(self.y == 1, 1, -1)

    @property
    def ones(self) -> Any:
        """The rows with a leading 1 if there is an intercept."""
        return np.column_stack([np.ones(len(self.X)), self.X]) if self.intercept else self.X

    @property
    def total_weight(self) -> float:
        return float(len(self.X) if self.weights is None else math.fsum(self.weights))

    @property
    def key(self) -> tuple[Any, ...]:
        weights = None if self.weights is None else self.weights.tobytes()
        return self.X.tobytes(), self.X.shape, np.asarray(self.y).tobytes(), weights, self.intercept, str(self.kernel)


_KNOWN: dict[Any, Any] = {}


def _once(key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
    """Return the truth about some data, computed once."""
    if key not in _KNOWN:
        _KNOWN[key] = compute()
    return _KNOWN[key]


def fault(certificate: dict[str, Any], X: Any, y: Any, weights: Any = None, printed: Any = ()) -> str:
    """Return why the statement is false; `printed` has the statuses of coefficients that are shown with it."""
    data = certificate["data"]
    try:
        rows = matched(data, np.asarray(X, dtype=np.float64), y, weights)
    except ValueError as problem:
        return f"the data are others: {problem}"
    kind = certificate["kind"]
    if data["scheme"] is None:
        return FAULTS[kind](certificate, rows) or _status_fault(printed, rows, kind)
    parts = list(_parts(data, rows))
    if len(parts) != len(certificate["parts"]):
        return f"{len(certificate['parts'])} parts, where the labels make {len(parts)}"
    pairs = zip(certificate["parts"], parts, strict=True)
    faults = (FAULTS[part["kind"] if kind == "mixed" else kind](part, own) for part, own in pairs)
    return next(filter(None, faults), "")


def matched(data: dict[str, Any], X: Any, y: Any, weights: Any) -> Rows:
    """Return the rows that count; a ValueError says what is not as in the certificate."""
    _require(X.shape == (data["rows"], data["width"]), "shape")
    _require(data["weights"] == (weights is not None), "weights given or not")
    sizes = None if weights is None else np.asarray(weights, dtype=np.float64)
    _require(sizes is None or bool(len(sizes) == len(X) and (sizes >= 0).all() and sizes.any()), "weights below 0")
    if data["task"] == "numbers":
        codes = np.asarray(y, dtype=np.float64)
        counts = [len(codes) if sizes is None else int((sizes > 0).sum())]
    else:
        values = y.tolist() if hasattr(y, "tolist") else list(y)
        codes = np.array([_place(data["labels"], value) for value in values])
        if data["class_weights"] is not None:
            by_class = np.array([*data["class_weights"], 1.0])[codes]
            sizes = by_class if sizes is None else by_class * sizes
        counting = np.ones(len(codes), dtype=bool) if sizes is None else sizes > 0
        own = [int(((codes == k) & counting).sum()) for k in range(len(data["labels"]))]
        others = int(((codes < 0) & counting).sum())
        _require(data["task"] == "rest" or not others, "a label that is not named")
        counts = [*own, others] if data["task"] == "rest" else own
        if data["task"] == "rest":
            codes = (codes == 0).astype(int)
    _require(counts == data["counts"], f"counts are {counts}")
    if sizes is not None and not sizes.all():
        kept = sizes > 0
        square = data["kernel"] is not None and data["kernel"]["name"] == "precomputed"
        X, codes, sizes = (X[kept][:, kept] if square else X[kept]), codes[kept], sizes[kept]
    _require(bool(np.isfinite(X).all()), "entries not finite")
    chosen = X if data.get("dropped") is None else np.delete(X, data["dropped"], axis=1)
    return Rows(_mapped(data["map"], chosen), codes, sizes, data["intercept"], data["kernel"])


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _place(labels: list[Any], value: Any) -> int:
    for place, label in enumerate(labels):
        numbers = all(type(each) in (int, float) for each in (label, value))
        if label == value and (numbers or type(label) is type(value)):
            return place
    return -1


def _mapped(feature_map: dict[str, Any] | None, X: Any) -> Any:
    if feature_map is None:
        return X
    _require(feature_map["name"] == "polynomial" and feature_map["products"], "a map that the judge does not know")
    columns = []
    for degree in range(1, feature_map["degree"] + 1):
        for factors in combinations_with_replacement(range(X.shape[1]), degree):
            column = np.ones(len(X))
            for factor in reversed(factors):
                column = column * X[:, factor]
            columns.append(column)
    return np.column_stack(columns)


def _parts(data: dict[str, Any], rows: Rows) -> Iterator[Rows]:
    """Return the rows of each part: a label against the rest, or two labels."""
    if data["scheme"] == "one-vs-rest":
        for k in range(len(data["labels"])):
            yield rows._replace(y=(rows.y == k).astype(int))
        return
    for first, second in combinations(range(len(data["labels"])), 2):
        own = (rows.y == first) | (rows.y == second)
        weights = None if rows.weights is None else rows.weights[own]
        square = rows.kernel is not None and rows.kernel["name"] == "precomputed"
        X = rows.X[own][:, own] if square else rows.X[own]
        yield rows._replace(X=X, y=(rows.y[own] == second).astype(int), weights=weights)


# Kinds in rational arithmetic


def _separability(part: dict[str, Any], rows: Rows) -> str:
    statement, witness = part["statement"], part["witness"]
    if statement["undecided"]:
        return ""
    rays = _once(("rays", *rows.key), lambda: rays_of(rows.X, rows.y, rows.intercept))
    left = _once(("left", *rows.key), lambda: oracles.rays_left(rows.X, rows.y, rows.intercept))
    truth = "separable" if not left else "overlap" if len(left) == len(rays) else "quasi"
    proof, clashes = witness["proof"], witness["clashes"]
    verdict = "overlap" if witness["weights"] is None else "separable" if proof is None and not clashes else "quasi"
    if verdict != truth:
        return f"{verdict} is stated, {truth} is true"
    if clashes:
        overlapping = sum(len(clash["proof"]["places"]) for clash in clashes)
        return "" if overlapping <= len(left) <= statement["n_left"] else f"{len(left)} rays are left"
    if statement["n_left"] != len(left):
        return f"{statement['n_left']} rays are left, in truth {len(left)}"
    if verdict == "overlap":
        return _overlap_fault(proof, rows, rays)
    return _margin(witness["widest"], rows) if witness["widest"] is not None else ""


def _overlap_fault(proof: dict[str, Any], rows: Rows, rays: Any) -> str:
    """Return what is false of a proof that the classes overlap: by rows that cancel, or by a maximum likelihood."""
    if "places" not in proof:
        return _alias_fault(proof, rows)
    cancel = not proof["places"] or verdict_of([rays[k].z for k in proof["places"]]) == "overlap"
    return "" if cancel else "the rows of the proof do not cancel"


def _status_fault(printed: Any, rows: Rows, kind: str) -> str:
    """Return which status of a coefficient is false; `printed` has the statuses and the number of directions."""
    statuses, dimension = printed or ((), None)
    if not statuses or kind not in {"separability", "likelihood"}:
        return ""
    truth = _once(("status", *rows.key), lambda: oracles.divergence(rows.X, rows.y, rows.intercept))
    for column, (said, true) in enumerate(zip(statuses, truth.statuses, strict=True)):
        if said != true and not (said == "diverges" and true in {"+inf", "-inf", "not estimable"}):
            return f"coefficient {column} is {said}, in truth {true}"
    return "" if dimension in {None, truth.dimension} else f"{dimension} directions, in truth {truth.dimension}"


def _margin(part: dict[str, Any], rows: Rows) -> str:
    statement, coef = part["statement"], part["witness"]["coef"]
    truth = _once(("margin", *rows.key), lambda: oracles.widest_margin(rows.X, rows.signs, rows.intercept).squared)
    lower, upper = Fraction(statement["lower"]), Fraction(statement["upper"])
    if not 0 < lower**2 <= truth <= upper**2:
        return f"the widest margin is {math.sqrt(truth):.17g}"
    own = oracles.squared_margin_of(rows.X, rows.signs, coef, rows.intercept)
    return "" if own >= lower**2 else "the weights have a smaller margin"


def _zero_one(part: dict[str, Any], rows: Rows) -> str:
    statement = part["statement"]
    wrong = oracles.mistaken_rows(rows.X, rows.signs, part["witness"]["coef"], rows.intercept)
    truth = _once(("fewest", *rows.key), lambda: oracles.fewest_mistakes(rows.X, rows.signs, rows.intercept).mistakes)
    if len(wrong) != statement["upper"] or statement["lower"] > truth:
        return f"{len(wrong)} mistakes are made, {truth} are the fewest"
    return ""


# Runs


def _rule(rule: dict[str, Any]) -> Any:
    return oracles.PerceptronRule(rule["tie"], rule["margin"], rule["rate"], rule["inverse"])


def _mistakes(part: dict[str, Any], rows: Rows) -> str:
    statement, witness = part["statement"], part["witness"]
    start = witness["start"]
    if Fraction(statement["radius"]) ** 2 < oracles.squared_radius(rows.X, rows.intercept):
        return "a row is longer than the radius"
    margin = statement["margin"]
    if margin is not None and oracles.squared_margin_of(rows.ones, rows.signs, witness["separator"], False) < (
        Fraction(margin) ** 2
    ):
        return "the separator has a smaller margin"
    rule, batch = _rule(statement["rule"]), statement["rule"]["update"] == "batch"
    if statement["converged"] and oracles.mistaken_rows(
        rows.X, rows.signs, witness["coef"], rows.intercept, tie=rule.tie, margin=rule.margin
    ):
        return "a row is a mistake at the last weights"
    exact = rational_rows(rows.ones)
    gram, scores = [[dot(a, b) for b in exact] for a in exact], [dot(row, rationals(start)) for row in exact]
    if bound_fault := _bound_fault(statement, gram, scores, rows.signs.tolist()):
        return bound_fault
    if statement["updates"] is None:
        return ""
    history = statement["updates"] if batch else witness["history"]
    replay = oracles.replay_perceptron(
        rows.X, rows.signs, history, rows.intercept, rule=rule, start=start, earlier=statement["earlier"]
    )
    size = max((abs(float(c)) for c in (*start, *replay.coef)), default=0.0) + float(np.abs(rows.X).max()) * rule.rate
    return _replay_fault(replay, statement, witness["coef"], size, float(np.abs(rows.ones).sum(axis=1).max()))


def _replay_fault(replay: Any, statement: dict[str, Any], coef: list[float], size: float, length: float) -> str:
    """Return which update was no mistake, or that the weights are others; `size` of the weights, `length` of a row."""
    updates = statement["updates"]
    if not replay.legitimate:
        excess = max((float(margin) for margin in replay.margins), default=0.0) - statement["rule"]["margin"]
        if not excess <= ROUNDING * size * length or 0 in replay.mistakes:
            return "an update was made on a row that was right"
    if len(replay.mistakes) != updates:
        return f"{len(replay.mistakes)} updates, {updates} stated"
    apart = max((abs(float(a) - b) for a, b in zip(replay.coef, coef, strict=True)), default=0.0)
    return "" if apart <= ROUNDING * size else "the updates lead to other weights"


def _bound_fault(statement: dict[str, Any], gram: Any, scores: Any, signs: list[int]) -> str:
    """Return whether some run by the rule makes more updates than the bound; runs on the worst or the first mistake."""
    bound, updates, rule = statement["bound"], statement["updates"], statement["rule"]
    if bound is None:
        return ""
    if updates is not None and updates > bound:
        return f"{updates} updates are more than the bound"
    if bound > MOST_STEPS:
        return ""
    own = _rule(rule)
    for choose in (min, max):
        current, made = list(scores), 0
        while made <= bound:
            wrong = [i for i, s in enumerate(current) if oracles.is_mistake(s, signs[i], own.tie, own.margin)]
            if not wrong:
                break
            rate = Fraction(own.rate) / (statement["earlier"] + made + 1 if own.inverse else 1)
            rate = rate if isinstance(gram[0][0], Fraction) else real(rate)
            chosen = wrong if rule["update"] == "batch" else [choose(wrong, key=lambda i: signs[i] * current[i])]
            for i in chosen:
                current = [s + rate * signs[i] * gram[i][k] for k, s in enumerate(current)]
            made += 1
        if made > bound:
            return f"a run makes {made} updates, the bound is {bound}"
    return ""


# Kernels


def _kernel_matrix(rows: Rows, constant: int = 0) -> Any:
    kernel = dict(rows.kernel or {})
    name, parameters = kernel.pop("name"), kernel

    def compute() -> Any:
        matrix = oracles.kernel_matrix(name, rows.X, **parameters)
        if name in {"precomputed", "sigmoid"}:
            size = Fraction(SHIFT) * Fraction(float(max(matrix[i][i] for i in range(len(matrix)))))
            size = size if name == "precomputed" else real(size)
            matrix = [[v + size * (i == j) for j, v in enumerate(row)] for i, row in enumerate(matrix)]
        return [[value + constant for value in row] for row in matrix]

    return _once(("kernel", constant, *rows.key), compute)


def _room(rows: Rows) -> float:
    """Return the relative error that the shift of a kernel matrix allows."""
    return 1.0 + (10 * SHIFT * len(rows.X) if (rows.kernel or {}).get("name") in {"precomputed", "sigmoid"} else 1e-25)


def _spread(rows: Rows, places: list[int], values: list[float]) -> list[float]:
    full = [0.0] * len(rows.X)
    for place, value in zip(places, values, strict=True):
        full[place] = value
    return full


def _kernel(part: dict[str, Any], rows: Rows) -> str:
    statement, witness, room = part["statement"], part["witness"], _room(rows)
    K = _kernel_matrix(rows)
    truth = mp.sqrt(
        real(_once(("wide", *rows.key), lambda: oracles.kernel_margin(K, rows.signs, rows.intercept).squared))
    )
    if not statement["lower"] <= truth * room or not truth <= statement["upper"] * room:
        return f"the widest margin is {float(truth):.17g}"
    if statement["radius"] > mp.sqrt(max(real(K[i][i]) for i in range(len(K)))) * room:
        return "no row is as long as the radius"
    if statement["lower"] > 0:
        coef = _spread(rows, witness["rows"], witness["coef"])
        scores = oracles.kernel_scores(K, coef, witness["intercept"])
        norm = mp.sqrt(oracles.kernel_norm(K, coef))
        if min(s * f for s, f in zip(rows.signs.tolist(), scores, strict=True)) * room < statement["lower"] * norm:
            return "the function has a smaller margin"
    return ""


def _kernel_optimality(part: dict[str, Any], rows: Rows) -> str:
    statement, witness, room = part["statement"], part["witness"], _room(rows)
    K, strength = _kernel_matrix(rows), statement["strength"]
    least = _once(
        ("svm", strength, *rows.key),
        lambda: oracles.kernel_svm(K, rows.signs, strength, rows.intercept, rows.weights).value,
    )
    coef = _spread(rows, witness["rows"], witness["multipliers"])
    value = oracles.kernel_svm_value(K, rows.signs, coef, witness["intercept"], strength, rows.weights)
    if not statement["dual"] <= least * room:
        return f"the minimum is {float(least):.17g}"
    return "" if value <= statement["primal"] * room else f"the objective is {float(value):.17g}"


def _kernel_mistakes(part: dict[str, Any], rows: Rows) -> str:
    statement, witness = part["statement"], part["witness"]
    K, signs = _kernel_matrix(rows, int(rows.intercept)), rows.signs.tolist()
    longest = mp.sqrt(max(real(K[i][i]) for i in range(len(K))))
    if statement["radius"] * _room(rows) < longest:
        return "a row is longer than the radius"
    if statement["margin"] is not None:
        scores = oracles.kernel_scores(K, witness["separator"])
        norm = mp.sqrt(oracles.kernel_norm(K, witness["separator"]))
        if min(s * f for s, f in zip(signs, scores, strict=True)) * _room(rows) < statement["margin"] * norm:
            return "the separator has a smaller margin"
    rule = _rule(statement["rule"])
    if statement["converged"]:
        scores = oracles.kernel_scores(K, witness["coef"])
        if any(oracles.is_mistake(f, s, rule.tie, rule.margin) for s, f in zip(signs, scores, strict=True)):
            return "a row is a mistake at the last weights"
    if bound_fault := _bound_fault(statement, K, [K[0][0] * 0] * len(K), signs):
        return bound_fault
    if statement["updates"] is None:
        return ""
    replay = oracles.replay_kernel_perceptron(K, rows.signs, witness["history"], False, rule=rule)
    size = sum(abs(float(c)) for c in replay.coef) + rule.rate
    return _replay_fault(replay, statement, witness["coef"], size, float(longest) ** 2)


# Optima


class Optimum(NamedTuple):
    """The truth about some coefficients: the objective, its infimum, what gaps are relative to, and a minimiser.

    The infimum and the minimiser are over the columns that are not held; None if the infimum is not attained.
    """

    value: Any
    least: Any
    scale: Any
    argmin: list[Any] | None

    @property
    def gap(self) -> Any:
        """What the objective is above its infimum; 0 below the precision of the oracle."""
        gap = self.value - self.least
        return gap if gap > PRECISION * self.value else mp.mpf(0)


class _Objective(NamedTuple):
    """The arguments of the oracles for the objective of a certificate, and its coefficients."""

    loss: Any
    X: Any
    y: Any
    options: dict[str, Any]
    coef: Any
    key: tuple[Any, ...]

    @classmethod
    def of(cls, part: dict[str, Any], rows: Rows) -> _Objective:
        statement = part["statement"]
        loss, strength, ratio = statement["loss"], statement["strength"], statement["l1_ratio"]
        X = rows.X if statement["scales"] is None else rows.X / np.array(statement["scales"])
        y = rows.y if loss == "softmax" or rows.y.dtype.kind == "f" else rows.signs
        l1 = Fraction(strength) * Fraction(ratio)
        options = {"weights": rows.weights, "l1": l1, "l2": Fraction(strength) - l1, "fit_intercept": rows.intercept}
        key = (loss, strength, ratio, X.tobytes(), *rows.key)
        return cls(loss, X, y, options, _by_score(loss, part["witness"]["coef"]), key)


def value_of(part: dict[str, Any], rows: Rows) -> Any:
    """Return the objective at the coefficients of a certificate."""
    own = _Objective.of(part, rows)
    compute = partial(oracles.value_at, own.loss, own.X, own.y, own.coef, **own.options)
    return _once(("value", str(own.coef), *own.key), compute)


def optimum(part: dict[str, Any], rows: Rows) -> Optimum:
    """Return the truth about the coefficients of a certificate of an objective."""
    own, held, value = _Objective.of(part, rows), part["statement"]["held"], value_of(part, rows)
    compute = partial(oracles.minimum, own.loss, own.X, own.y, start=own.coef, held=held, **own.options)
    least = _once(("least", tuple(held), str(own.coef) if held else None, *own.key), compute)
    constant = _once(("constant", own.loss, *rows.key), lambda: _constant_value(own.loss, own.y, rows))
    return Optimum(value, least.value, max(value, SMALLEST * constant), least.argmin)


def _by_score(loss: str, coef: Any) -> Any:
    """Return the coefficients as the oracles have them: of softmax, one list per class."""
    return [list(line) for line in zip(*coef, strict=True)] if loss == "softmax" else coef


def _constant_value(loss: Any, y: Any, rows: Rows) -> Any:
    """Return the least mean loss of a constant score, which is 0 without an intercept."""
    nothing = rows.X[:, :0]
    if rows.intercept and loss in {"logistic", "softmax"}:
        sizes = np.ones(len(y)) if rows.weights is None else rows.weights
        totals = [sum(rationals(sizes[y == label]), Fraction(0)) for label in np.unique(y)]
        shares = [real(total / sum(totals)) for total in totals]
        return -mp.fsum(share * mp.log(share) for share in shares)
    if rows.intercept:
        return oracles.minimum(loss, nothing, y, True, weights=rows.weights).value
    coef: Any = [[] for _ in np.unique(y)] if loss == "softmax" else []
    return oracles.value_at(loss, nothing, y, coef, False, weights=rows.weights)


def _optimality(part: dict[str, Any], rows: Rows) -> str:
    statement = part["statement"]
    truth = optimum(part, rows)
    if not truth.value <= statement["primal"]:
        return f"the objective is {float(truth.value):.17g}"
    if not truth.gap <= statement["gap"]:
        return f"the gap is {float(truth.gap):.6g}"
    if not truth.gap <= statement["relative_gap"] * truth.scale:
        return f"the relative gap is {float(truth.gap / truth.scale):.6g}"
    return _alias_fault(statement, rows) or _radius_fault(part, rows)


def _alias_fault(statement: dict[str, Any], rows: Rows) -> str:
    """Return which column is said to be a combination of others and is not."""
    aliased = statement["aliased"]
    if not aliased:
        return ""
    if statement.get("strength"):
        return "the penalty tells aliased columns apart"
    exact = rational_rows(rows.X, intercept=rows.intercept)
    kept = [[x for j, x in enumerate(row) if j not in aliased] for row in exact]
    ranks = _once(("rank", tuple(aliased), *rows.key), lambda: (rank(exact), rank(kept)))
    return "" if ranks[0] == ranks[1] else f"without the aliased columns the rank is {ranks[1]} instead of {ranks[0]}"


def _radius_fault(part: dict[str, Any], rows: Rows) -> str:
    """Return which coefficient is farther from the minimiser than its radius, or that there is no such minimiser.

    Aliased and held columns keep their coefficients, and the minimiser over the others must be unique. Coefficients of
    several classes are meant up to a constant for all classes, and their radii are of the differences to the first.
    """
    statement, radii = part["statement"], part["statement"]["radii"]
    if radii is None:
        return ""
    loss, penalised = statement.get("loss", "squared"), bool(statement.get("strength"))
    ridge = penalised and statement["l1_ratio"] < 1.0
    fixed = sorted({*statement["aliased"], *statement["held"]})
    free = [j for j in range(len(part["witness"]["coef"])) if j not in fixed]
    argmin = _minimiser(part, rows, fixed)
    if argmin is None:
        return "radii are stated, and there is no minimum"
    unpenalised = [j for j in free if not ridge or (rows.intercept and j == 0)]
    columns = [[row[j] for j in unpenalised] for row in rational_rows(rows.X, intercept=rows.intercept)]
    if rank(columns) < len(unpenalised):
        return "radii are stated, and the minimiser is not unique"
    own = _by_score(loss, part["witness"]["coef"])
    lines = (own, argmin, _by_score(loss, radii)) if loss == "softmax" else ([own], [argmin], [radii])
    for j in free:
        apart = [(real(w[j]) - best[j], r[j]) for w, best, r in zip(*lines, strict=True)]
        shift = apart[0][0] if loss == "softmax" else 0
        if not all(abs(d - shift) <= r for d, r in apart):
            return f"coefficient {j} is {', '.join(f'{float(d - shift):.6g}' for d, _ in apart)} from the minimiser"
    return ""


def _minimiser(part: dict[str, Any], rows: Rows, fixed: list[int]) -> Any:
    """Return the minimiser over the columns that are not fixed, None if there is none."""
    part = part if "loss" in part["statement"] else as_objective(part)
    return optimum({**part, "statement": {**part["statement"], "held": fixed}}, rows).argmin


def as_objective(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of least squares as one of the mean of ½ times the squares."""
    statement = {**part["statement"], "relative_gap": part["statement"]["relative_excess"]}
    return {**part, "statement": {"loss": "squared", "strength": 0.0, "l1_ratio": 0.0, "scales": None, **statement}}


def _likelihood(part: dict[str, Any], rows: Rows) -> str:
    witness = part["witness"]
    optimality, existence = witness["optimality"], witness["existence"]
    if existence is not None:
        return _separability(existence, rows) or _optimality(optimality, rows)
    if optimum(optimality, rows).argmin is None:
        return "the maximum is said to exist"
    return _optimality(optimality, rows)


def _least_squares(part: dict[str, Any], rows: Rows) -> str:
    statement, witness = part["statement"], part["witness"]
    truth = optimum(as_objective(part), rows)
    size = 2 * real(Fraction(len(rows.X)) if rows.weights is None else sum(rationals(rows.weights), Fraction(0)))
    rss = oracles.residual_sum(rows.X, rows.y, witness["coef"], rows.intercept, rows.weights)
    if not rss <= Fraction(statement["rss"]):
        return f"the sum of squares is {float(real(rss)):.17g}"
    if not truth.gap * size <= statement["excess"]:
        return f"the excess is {float(truth.gap * size):.6g}"
    if not truth.gap <= statement["relative_excess"] * truth.scale:
        return f"the relative excess is {float(truth.gap / truth.scale):.6g}"
    return _alias_fault(statement, rows) or _radius_fault(part, rows)


# Kinds with a tolerance


def _generative(part: dict[str, Any], rows: Rows) -> str:
    statement, witness = part["statement"], part["witness"]
    truth = oracles.generative(rows.X, rows.y, rows.weights, statement["priors"])
    scale = [1 / math.sqrt(variance) for variance in truth.variances]
    for own, true in zip(witness["coef"], truth.coef, strict=True):
        for w, t, s in zip(own, true, scale, strict=True):
            if abs(Fraction(w) - t) > Fraction(1.01 * TOLERANCE * (s + abs(float(t)))):
                return f"a coefficient is {float(t):.17g}"
    reach = float(np.abs(rows.X).max()) * max((abs(float(t)) for true in truth.coef for t in true), default=0.0)
    for b, t in zip(witness["intercept"], truth.intercept, strict=True):
        if abs(b - t) > 1.01 * TOLERANCE * (1 + abs(float(t)) + reach * len(scale)):
            return f"an intercept is {float(t):.17g}"
    return ""


def _bias_reduction(part: dict[str, Any], rows: Rows) -> str:
    statement, coef = part["statement"], part["witness"]["coef"]
    if statement["penalised"] is None:
        return ""
    point = oracles.firth_point(rows.X, rows.signs, coef, rows.intercept, rows.weights)
    if point.penalised < statement["penalised"]:
        return f"the logarithm is {float(point.penalised):.17g}"
    if statement["excess"] is None:
        return ""
    key = ("firth", tuple(coef), *rows.key)
    top = _once(key, lambda: oracles.firth(rows.X, rows.signs, rows.intercept, rows.weights, start=coef))
    if not top.concave or top.penalised - point.penalised > statement["excess"]:
        return f"the local maximum is {float(top.penalised - point.penalised):.3g} higher"
    for own, true, radius in zip(coef, top.coef, statement["radii"], strict=True):
        if abs(true - real(Fraction(own))) > radius:
            return f"a coefficient of the local maximum is {float(true):.17g}"
    return ""


FAULTS: dict[str, Callable[[dict[str, Any], Rows], str]] = {
    "separability": _separability,
    "margin": _margin,
    "zero-one": _zero_one,
    "mistakes": _mistakes,
    "kernel": _kernel,
    "kernel-optimality": _kernel_optimality,
    "kernel-mistakes": _kernel_mistakes,
    "optimality": _optimality,
    "likelihood": _likelihood,
    "least-squares": _least_squares,
    "generative": _generative,
    "bias-reduction": _bias_reduction,
}
