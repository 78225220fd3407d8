"""A second verifier, which needs only Python.

    python standalone.py certificate.json data.csv --target COLUMN [--weight COLUMN]

It shares the format and the theorems with the first verifier, but no code and no arithmetic: separability, margins,
fewest mistakes and runs are checked in rational numbers, the other kinds in intervals of decimals with 50 digits. It
finds columns by their names or, if the certificate has none, by their order, and ends with 0 (proved), 1 (not proved:
why) or 2 (it cannot be checked here: why).
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Overflow, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

Number = Decimal | Fraction | int
Vector = list[Fraction]
Group = dict[str, Any]  # statement or witness
Result = tuple[str, str]  # verdict and claim
PRIME = 2**61 - 1
MAX_NODES, MAX_RANK, MAX_BITS, MAX_NUMBER = 50_000, 60, 2**18, 1e150
MAX_ENTRIES, MAX_CURVATURES = 2_000_000, 1_000_000
MAX_DEGREE, MAX_UPDATES, MAX_STEPS = 1000, 2**40, 100
UNIT = Fraction(1, 2**53)
OPTIMAL_GAP, NEGLIGIBLE, CLOSE = 1e-6, Fraction(1e-8), Fraction(1e-8)  # definitions that claims refer to
NO_MARGIN, SHOWN_DIGITS = 1e-5, 1e-5  # definitions of a verdict, and of words
ZERO, SLACK, SMALLEST = Decimal(0), Decimal(2.0**-40), Decimal(sys.float_info.min)
NEAR, FINEST, DAMPING = Decimal(2.0**-66), Decimal(2.0**-266), Decimal(2.0**-50)  # of Newton's method
HIDDEN = Decimal(2.0**-200)  # of a number claimed to be 0, below which rounding may be all of it
NEAREST, DOWN, UP = (Context(50, rounding, MIN_EMIN, MAX_EMAX) for rounding in (None, ROUND_FLOOR, ROUND_CEILING))
FRACTION = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?")
PLACE = re.compile(r"0|[1-9][0-9]{0,14}")
KEYS = "format kind data statement witness parts verdict claim"
DATA_KEYS = (
    "rows width columns dropped intercept weights class_weights offset trials penalty_factor bounds map kernel task"
    " labels scheme counts"
)
REDUCED = ("separability", "optimality", "likelihood", "least-squares", "bias-reduction")  # may be of fewer columns
FIELDS = {
    "separability": ("n_left undecided", "weights proof divergence clashes widest"),
    "margin": ("lower upper", "coef rows multipliers"),
    "zero-one": ("upper lower", "coef subsystems packing"),
    "optimality": (
        "loss strength l1_ratio scales primal gap relative_gap radii aliased held",
        "coef dual_rows dual_values relations",
    ),
    "likelihood": ("", "optimality existence"),
    "least-squares": ("rss excess relative_excess radii aliased held", "coef relations"),
    "generative": ("priors", "coef intercept"),
    "bias-reduction": ("penalised excess radii", "coef"),
    "mistakes": ("rule radius margin bound updates earlier converged", "coef separator history start"),
    "kernel-mistakes": ("rule radius margin bound updates earlier converged", "coef separator history"),
    "kernel": ("lower upper radius", "rows coef multipliers intercept"),
    "kernel-optimality": ("strength primal dual", "rows multipliers intercept"),
}
KERNELS = {"linear": "", "polynomial": "gamma degree offset", "rbf": "gamma"}
TIES = {"positive": 1, "negative": -1, "mistake": 0, "correct": 2}
MAX_NAMES = 10  # columns that a claim names
LOSSES = ("logistic", "softmax", "squared", "hinge", "squared hinge")
VERDICTS = {
    "separable": "the classes are completely separated",
    "quasi": "the classes are quasi-completely separated",
    "overlap": "the classes overlap",
}


class UncheckedError(Exception):
    """What this verifier does not check."""


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


# Reading


def _object(value: Any, keys: str, what: str) -> Group:
    _require(isinstance(value, dict), f"{what} is no object")
    _require(sorted(value) == sorted(keys.split()), f"{what} has the keys {sorted(value)}, not {sorted(keys.split())}")
    return dict(value)


def _pairs(pairs: list[tuple[str, Any]]) -> Group:
    _require(len(dict(pairs)) == len(pairs), "a key is given twice")
    return dict(pairs)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _whole(value: Any, below: float = math.inf) -> int:
    _require(type(value) is int and 0 <= value < min(below, 2**53 + 1), f"{value!r:.40} is no whole number in range")
    return int(value)


def _wholes(value: Any, below: float = math.inf) -> list[int]:
    numbers = [_whole(each, below) for each in _list(value)]
    _require(len(set(numbers)) == len(numbers), "a number is repeated where each is named once")
    return numbers


def _list(value: Any, size: int | None = None) -> list[Any]:
    _require(isinstance(value, list) and size in (None, len(value)), f"a list{f' of {size}' if size else ''} is needed")
    return list(value)


def _float(value: Any, least: float = -math.inf) -> Fraction:
    fits = type(value) in (int, float) and abs(value) <= sys.float_info.max and float(value) == value >= least
    _require(fits, f"{value!r:.40} is no number in range")
    return Fraction(value)


def _floats(value: Any, size: int | None = None, least: float = -math.inf) -> Vector:
    return [_float(each, least) for each in _list(value, size)]


def _rationals(value: Any, size: int | None = None) -> Vector:
    numbers = _list(value, size)
    wrong = [text for text in numbers if isinstance(text, str) and not FRACTION.fullmatch(text)]
    _require(not wrong, f"{wrong[:1]!r:.40} is no fraction")
    fractions, common = [Fraction(each) if isinstance(each, str) else _float(each) for each in numbers], 1
    for denominator in {each.denominator for each in fractions}:
        common = math.lcm(common, denominator)
        if common.bit_length() > MAX_BITS:
            raise UncheckedError(f"a common denominator of more than {MAX_BITS} bits")
    return fractions


def _relations(value: Any, width: int) -> list[Vector]:
    dense = []
    for relation in _list(value):
        _require(isinstance(relation, dict), "a relation is no object")
        places = dict(zip((_place(key, width) for key in relation), _rationals([*relation.values()]), strict=True))
        dense.append([places.get(j, Fraction(0)) for j in range(width)])
    return dense


def _place(key: str, width: int) -> int:
    _require(bool(PLACE.fullmatch(key)) and int(key) < width, f"{key[:40]!r} is no column")
    return int(key)


# The data


def _kind_of(label: Any) -> str:
    kinds = {bool: "boolean", str: "text", int: "number", float: "number"}
    return "" if type(label) is float and not math.isfinite(label) else kinds.get(type(label), "")


def _check_data(data: Group) -> None:
    """Refuse data that contradict themselves, and those that this verifier does not know."""
    n, width, labels, task = _whole(data["rows"]), _whole(data["width"]), _list(data["labels"]), data["task"]
    _require(all(type(data[key]) is bool for key in ("intercept", "weights")), "intercept and weights are no booleans")
    unused = [data[key] for key in ("offset", "trials", "penalty_factor", "bounds")]
    _require(json.dumps(unused) == "[false, false, null, null]", "offset, trials, penalty_factor or bounds are given")
    sizes = {"numbers": [0], "two": [2], "rest": [1], "several": [len(labels) or 1]}
    _require(
        isinstance(task, str) and len(labels) in sizes.get(task, []), f"the labels do not fit the task {task!r:.40}"
    )
    _require(data["scheme"] in (None, "one-vs-rest", "pairs"), f"{data['scheme']!r:.40} is no scheme")
    _require(data["scheme"] is None or (task in ("two", "several") and len(labels) > 1), "the scheme needs labels")
    kinds = {_kind_of(label) for label in labels}
    _require(len(kinds) <= 1 and "" not in kinds, "the labels are not all texts, numbers or booleans")
    _require(len(set(labels)) == len(labels), "a label is given twice")
    counts = [_whole(count) for count in _list(data["counts"], len(labels) + (task in ("numbers", "rest")))]
    weighted = data["weights"] or data["class_weights"] is not None
    _require(any(counts) and sum(counts) in (range(n + 1) if weighted else [n]), "counts do not fit")
    if data["class_weights"] is not None:
        _floats(data["class_weights"], len(labels), 0.0)
        _require(task in ("two", "several"), "class weights of one label, or of numbers")
    if data["columns"] is not None:
        names = _list(data["columns"], width)
        _require(all(type(name) is str for name in names) and len(set(names)) == width, "the columns do not fit")
    if data["dropped"] is not None:
        _require(bool(_wholes(data["dropped"], width)), "no column is dropped")
    if data["map"] is not None:
        raise UncheckedError("certificates after a map")
    _require(data["kernel"] is None or data["dropped"] is None, "columns are dropped beside a kernel")
    if data["kernel"] is not None:
        _check_kernel(data["kernel"])


def _check_kernel(kernel: Any) -> None:
    name = kernel.get("name") if isinstance(kernel, dict) else None
    if name in ("precomputed", "sigmoid"):
        raise UncheckedError(f"{name} kernels, whose matrix of floats is the data")
    _require(name in [*KERNELS], f"{name!r:.40} is no kernel")
    _object(kernel, f"name {KERNELS[str(name)]}", "kernel")
    degree = _whole(kernel.get("degree", 1))
    _require(_float(kernel.get("gamma", 1.0)) > 0 < degree, "gamma or degree are not above 0")
    _float(kernel.get("offset", 0.0), 0.0)
    _limit("the degree of the kernel", degree, MAX_DEGREE)


def _limit(what: str, amount: float, limit: float) -> None:
    if amount > limit:
        raise UncheckedError(f"{what}: {amount:.3g}, above the limit of {limit:.3g}")


def _number(text: str) -> Fraction:
    """Return a cell as the float64 that it is; integers that float64 does not hold are refused."""
    try:
        finite = "_" not in text and math.isfinite(float(text))
    except ValueError:
        raise UncheckedError(f"the cell {text[:40]!r}, which is no number") from None
    _require(finite, f"{text[:40]!r} is no finite number")
    value = Fraction(float(text))
    digits = text.strip().lstrip("+-")
    _require(not digits.isdigit() or abs(value) == int(digits), f"float64 does not hold {text[:40]}")
    if abs(value) > MAX_NUMBER:
        raise UncheckedError(f"numbers above {MAX_NUMBER:g}")
    return value


def _label_of(text: str, kind: str) -> Any:
    """Return a cell as a label of the certificate's type; None if it is none."""
    if kind == "text":
        return text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower())
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text.replace("_", "?"))
    except ValueError:
        return None


class LabelledRows:
    """The rows of a table that count: exact numbers with the intercept first, and what belongs to each.

    `codes` are the places of the labels (of one label against the rest 1 and 0), `targets` the numbers of a regression
    or signs ±1, `weights` the sample weights times the class weights, `numbers` the places in the table.
    """

    def __init__(self, path: str, options: dict[str, str], data: Group) -> None:
        target, weight = options["--target"], options.get("--weight")
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, *lines = [line for line in csv.reader(file) if line]
        others = [name for name in header if name not in (target, weight)]
        names = data["columns"] or others
        fits = target in header and set(names) <= set(others) and len(names) == data["width"]
        if not fits or len(set(header)) != len(header):
            raise UncheckedError(f"the table has columns {header}, not {names} as numbers")
        _require(data["weights"] == (weight is not None), "sample weights are given, or missing, unlike in the fit")
        _require(len(lines) == data["rows"], f"{len(lines)} rows, where the certificate is of {data['rows']}")
        names = [name for place, name in enumerate(names) if place not in (data.get("dropped") or [])]
        places, labels, task = [header.index(name) for name in names], data["labels"], data["task"]
        self.data, self.values, self.codes, self.numbers = data, list[Vector](), list[int](), list[int]()
        self.targets, self.weights = list[Fraction](), list[Fraction]()
        kind = _kind_of(labels[0]) if labels else ""
        known = {x: code for code, x in enumerate(labels)}
        class_weights = data["class_weights"] or [1.0] * len(known)
        for number, line in enumerate(lines):
            size = 1.0 if weight is None else float(_number(line[header.index(weight)]))
            _require(size >= 0, f"row {number} has a weight below 0")
            cell = line[header.index(target)]
            code = 0 if task == "numbers" else known.get(_label_of(cell, kind), -1)
            size *= class_weights[code] if labels and code >= 0 else 1.0
            goal = _number(cell) if task == "numbers" else Fraction(0)
            if not size:
                continue
            _require(code >= 0 or task == "rest", f"row {number} has a label that the certificate does not have")
            code = int(code == 0) if task == "rest" else code
            self.values.append([Fraction(1)] * data["intercept"] + [_number(line[place]) for place in places])
            self.codes.append(code)
            self.targets.append(goal if task == "numbers" else Fraction(1 if code == 1 else -1))
            self.weights.append(Fraction(size))
            self.numbers.append(number)
        _require(self.counts() == data["counts"], "the classes have other numbers of rows")

    def counts(self) -> list[int]:
        """Return the number of rows of each label, then of the rest; of numbers, that of all rows."""
        codes = {"rest": range(1, -1, -1), "numbers": range(1)}.get(self.data["task"], range(len(self.data["labels"])))
        return [self.codes.count(code) for code in codes]

    def part(self, chosen: list[int], codes: list[int], labels: list[Any]) -> LabelledRows:
        """Return some of the rows with other codes."""
        part = object.__new__(LabelledRows)
        task = "two" if len(labels) == 2 else "rest"
        part.data, part.codes = {**self.data, "labels": labels, "task": task, "class_weights": None}, codes
        part.values, part.numbers = [self.values[i] for i in chosen], [self.numbers[i] for i in chosen]
        part.weights, part.targets = [self.weights[i] for i in chosen], [Fraction(2 * code - 1) for code in codes]
        return part

    def require_labels(self, *tasks: str) -> None:
        """Refuse other tasks, and labels without rows."""
        _require(self.data["task"] in tasks and 0 not in self.counts(), "other labels are needed, all with rows")

    @property
    def classes(self) -> int:
        """The number of classes, of which the rest is one."""
        return len(self.data["labels"]) + int(self.data["task"] == "rest")

    @property
    def absent(self) -> str:
        """A clause that names labels without rows."""
        labels, counts = self.data["labels"], self.counts()
        if self.data["task"] == "rest" and not counts[-1]:
            return f"; every row has the label {labels[0]!r}"
        missing = [repr(label) for label, count in zip(labels, counts, strict=False) if not count]
        return f"; no row has the label {' or '.join(missing)}" if missing else ""

    @property
    def without(self) -> str:
        """The columns that the fit left out, in words."""
        dropped, all_names = self.data["dropped"] or [], _column_names(self.data)
        more = f" and {len(dropped) - MAX_NAMES:,} more" if len(dropped) > MAX_NAMES else ""
        return (
            f"without {', '.join(repr(all_names[column]) for column in dropped[:MAX_NAMES])}{more}" if dropped else ""
        )

    @cached_property
    def signed(self) -> list[Vector]:
        """The rows times their signs ±1."""
        return [x if code else [-value for value in x] for x, code in zip(self.values, self.codes, strict=True)]


# Rational linear algebra


def _dot(a: Any, b: Any) -> Any:
    return sum((x * z for x, z in zip(a, b, strict=True) if x and z), Fraction(0))


def _eliminate(matrix: list[list[Any]], width: int, prime: int = 0) -> int:  # in place; returns the rank
    rank = 0
    for column in range(width):
        pivot = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if pivot is not None:
            matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
            inverse = pow(matrix[rank][column], -1, prime) if prime else 1 / matrix[rank][column]
            matrix[rank] = [x * inverse % prime if prime else x * inverse for x in matrix[rank]]
            for i in (i for i in range(len(matrix)) if i != rank and matrix[i][column]):
                new = (x - matrix[i][column] * z for x, z in zip(matrix[i], matrix[rank], strict=True))
                matrix[i] = [x % prime for x in new] if prime else list(new)
            rank += 1
    return rank


def _rank(rows: list[Vector]) -> int:  # modulo a prime: at most the true rank
    matrix: list[list[Any]] = [[x.numerator * pow(x.denominator, -1, PRIME) % PRIME for x in row] for row in rows]
    return _eliminate(matrix, len(rows[0]) if rows else 0, PRIME)


def _check_rounded(basis: list[Vector], residual: Vector, multipliers: Vector) -> None:  # λ − Z⁻ᵗ r > 0
    if len(basis) > MAX_RANK:
        raise UncheckedError(f"rounded multipliers of more than {MAX_RANK} columns")
    system = [[*column, r] for column, r in zip(zip(*basis, strict=True), residual, strict=True)]
    _require(_eliminate(system, len(basis)) == len(basis), "the basis is not independent")
    _require(all(m > row[-1] for m, row in zip(multipliers, system, strict=True)), "the multipliers do not cancel")


# Separability


def _rays(rows: LabelledRows) -> dict[int, Vector]:
    classes, rays = max(2, len(rows.data["labels"])), {}
    single = len(rows.data["labels"]) == 1 and rows.data["task"] != "rest"
    codes = [code + single for code in rows.codes]
    for number, (x, own) in enumerate(zip(rows.values, codes, strict=True)):
        for slot, other in enumerate(code for code in range(classes) if code != own):
            signs = [(code == own) - (code == other) for code in range(1, classes)]
            rays[number * (classes - 1) + slot] = [sign * value for sign in signs for value in x]
    return rays


def _check_overlap(proof: Any, rays: dict[int, Vector], left: set[int], width: int) -> int:
    proof = _object(proof, "places multipliers columns relations", "proof")
    places, columns = _wholes(proof["places"]), _wholes(proof["columns"], width)
    multipliers, relations = _rationals(proof["multipliers"], len(places)), _relations(proof["relations"], width)
    _require(left.issuperset(places) and len(places) >= len(columns), "the proof has too few rows, or others than left")
    _require(all(m > 0 for m in multipliers), "a multiplier is not above 0")
    dependent = sorted(set(range(width)) - set(columns))
    owned = sorted([j for j in dependent if relation[j]] for relation in relations)
    _require(owned == [[j] for j in dependent], "the dependent columns have not a relation each")
    _require(not any(_dot(r, rays[place]) for place in left for r in relations), "a row breaks a relation of columns")
    chosen = [[rays[place][j] for j in columns] for place in places]
    residual = [_dot(multipliers, column) for column in zip(*chosen, strict=True)]
    if any(residual):
        _check_rounded(chosen[: len(columns)], residual, multipliers[: len(columns)])
    else:
        _require(_rank(chosen[: len(columns)]) == len(columns), "the basis is not independent")
    return len(places)


def _check_divergence(value: Any, proof: Any, rays: dict[int, Vector], width: int) -> None:
    value = _object(value, "spanning aliases opposites signs", "divergence")
    aliases, spanning = _relations(value["aliases"], width), _wholes(value["spanning"])
    _require(not any(_dot(alias, ray) for alias in aliases for ray in rays.values()), "a row breaks an alias")
    _require(set(spanning) <= set(rays), "a row beyond those of the data")
    _require(_rank([rays[place] for place in spanning]) == len(spanning), "the rank differs")
    own = [
        any(a and sum(map(bool, column)) == 1 for a, column in zip(alias, zip(*aliases, strict=True), strict=True))
        for alias in aliases
    ]
    _require(all(own) and len(spanning) == width - len(aliases), "the aliases are not independent, or too few")
    opposites = [_rationals(vector, width) for vector in _list(value["opposites"])]
    _require(all(_dot(v, ray) >= 0 for v in opposites for ray in rays.values()), "a row is against an opposite")
    span = _relations([{str(j): 1} for j in range(width)] if proof is None else proof["relations"], width)
    _require(isinstance(value["signs"], dict), "signs is no object")
    for key, given in value["signs"].items():
        column, entry = _place(key, width), _object(given, "sign places multipliers", "sign")
        places, sign = [_whole(place) for place in _list(entry["places"])], entry["sign"]
        multipliers = _rationals(entry["multipliers"], len(places))
        _require(set(places) <= set(rays) and min(multipliers, default=0) >= 0, "a sign has other rows or multipliers")
        totals = [_dot(multipliers, [_dot(vector, rays[place]) for place in places]) for vector in span]
        follows = type(sign) is int and sign in (-1, 1) and totals == [sign * vector[column] for vector in span]
        _require(follows, f"the sign of column {column} does not follow")


def _check_separability(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "several", "rest")
    _require(type(statement["undecided"]) is bool, "undecided is no boolean")
    if _list(witness["clashes"]) or witness["widest"] is not None or statement["undecided"]:
        raise UncheckedError("separability that is undecided, or proved by clashes")
    rays, labels = _rays(rows), rows.data["labels"]
    width, left = len(next(iter(rays.values()))), set(rays)
    classes = len(labels) + (rows.data["task"] == "rest")
    weights, proof, divergence = (witness[key] for key in ("weights", "proof", "divergence"))
    _require(not (weights is None and proof is None), "it has neither a direction nor a proof of overlap")
    if weights is not None:
        direction = _rationals(weights, width)
        products = {place: _dot(direction, ray) for place, ray in rays.items()}
        wrong = [rows.numbers[place // max(1, classes - 1)] for place in rays if products[place] < 0]
        _require(not wrong, f"row {wrong[:1]} is on the wrong side")
        left = {place for place, product in products.items() if product == 0}
        _require(len(left) < len(rays), "the direction separates no row at all")
    n_left = _whole(statement["n_left"])
    _require(len(left) == n_left and (proof is not None) == bool(left), f"{len(left)} are left, claimed {n_left}")
    curved = isinstance(proof, dict) and "coef" in proof
    if curved:
        _require(weights is None, "a direction, where the curvature proves that all rows overlap")
        _check_curvature(proof, rows)
    cause = "the curvature of the likelihood proves its maximum"
    if proof is not None and not curved:
        cause = f"a positive combination of {_counted(_check_overlap(proof, rays, left, width), 'signed row')} is 0"
    if divergence is not None:
        _require(weights is not None, "a divergence without a direction")
        _check_divergence(divergence, proof, rays, width)
    verdict = "separable" if proof is None else "overlap" if weights is None else "quasi"
    without = f"{rows.without}: " if rows.without else ""
    return verdict, f"{without}{_separability_claim(verdict, labels, classes, n_left, cause)}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _separability_claim(verdict: str, labels: list[Any], classes: int, n_left: int, cause: str) -> str:
    words = VERDICTS[verdict]
    if classes == 1:
        return f"there is only one class, {labels[0]!r}: {words}"
    if verdict == "overlap":
        return f"{words}: not linearly separable, even in part ({cause}); the likelihood has a maximum"
    if verdict == "separable":
        return f"{words}: every row is on the side of its class; the likelihood has no maximum"
    left = _counted(n_left, "row" if classes == 2 else "row-and-class pair")
    return f"{words}: all but {left} are perfectly separated, and the rest overlap; the likelihood has no maximum"


# Margin and fewest mistakes


def _check_margin(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "rest")
    signed, intercept = rows.signed, int(rows.data["intercept"])
    lower, upper = _float(statement["lower"], 0.0), _float(statement["upper"], 0.0)
    coef, chosen = _floats(witness["coef"], len(signed[0])), _wholes(witness["rows"], len(signed))
    multipliers = _floats(witness["multipliers"], len(chosen), 0.0)
    square = sum(value * value for value in coef[intercept:])
    _require(square > 0 and 0 < lower <= upper, "the weights are 0, or the bounds are not in order")
    margins = [_dot(coef, row) for row in signed]
    _require(min(margins) > 0 and min(margins) ** 2 >= lower**2 * square, "a row is not right by the lower bound")
    classes = [{0}, {1}] if intercept else [{0, 1}]
    groups = [[k for k, i in enumerate(chosen) if rows.codes[i] in codes] for codes in classes]
    totals = [sum((multipliers[k] for k in group), Fraction(0)) for group in groups]
    _require(min(totals) > 0, "the multipliers of a class are all 0")
    pairs = zip(groups, totals, strict=True)
    share = {k: multipliers[k] / total / len(groups) for group, total in pairs for k in group}
    point = [sum(share[k] * signed[i][j] for k, i in enumerate(chosen)) for j in range(intercept, len(coef))]
    _require(sum(value * value for value in point) <= upper**2, "the upper bound does not follow from the multipliers")
    gap = (float(upper) - float(lower)) / float(upper)
    widest = f"no halfspace has a margin above {_shown(upper, 10)} (relative gap {_shown(gap, 2)})"
    claim = f"every row is classified correctly, with a margin of at least {_shown(lower, 10, down=True)}; {widest}"
    return "widest margin" if gap <= OPTIMAL_GAP else "separable", claim


def _check_zero_one(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "rest")
    signed, upper, lower = rows.signed, _whole(statement["upper"]), _whole(statement["lower"])
    coef = _floats(witness["coef"], len(signed[0]))
    wrong = sum(_dot(coef, row) <= 0 for row in signed)
    _require(wrong == upper, f"the weights make {wrong} mistakes, claimed {upper}")
    sets = []
    for system in _list(witness["subsystems"]):
        own = _object(system, "rows multipliers", "subsystem")
        chosen, multipliers = _wholes(own["rows"], len(signed)), _rationals(own["multipliers"])
        fits = len(chosen) == len(multipliers) > 0 and min(multipliers) > 0
        _require(fits, "a subsystem has a multiplier that is not above 0")
        totals = [_dot(multipliers, column) for column in zip(*(signed[i] for i in chosen), strict=True)]
        _require(not any(totals), "a subsystem does not cancel")
        sets.append(frozenset(chosen))
    packing = _rationals(witness["packing"])
    _require(min(packing, default=0) >= 0, "the packing has a number below 0")
    if lower and not _packs(sets, packing, lower):
        _require(_hits(sets, lower), f"fewer than {lower} rows hit every subsystem")
    minimum = lower >= upper
    fewest = "no halfspace makes fewer" if minimum else f"every halfspace makes at least {lower:,}"
    mistakes = f"{_counted(upper, 'mistake')} on {_counted(len(signed), 'row')}"
    return "minimum" if minimum else "bounds", f"{mistakes}, and {fewest}, where a score of 0 is a mistake"


def _packs(sets: list[frozenset[int]], packing: Vector, lower: int) -> bool:
    loads: dict[int, Fraction] = {}
    for rows, weight in zip(sets, packing, strict=False):
        for row in rows:
            loads[row] = loads.get(row, Fraction(0)) + weight
    return len(sets) == len(packing) and max(loads.values(), default=0) <= 1 and math.ceil(sum(packing)) >= lower


def _hits(sets: list[frozenset[int]], size: int) -> bool:
    """Return whether every set of rows that hits all sets has at least `size` rows."""
    stack, nodes = [(sets, size - 1)], 0
    while stack:
        rest, budget = stack.pop()
        nodes += 1
        if nodes > MAX_NODES:
            raise UncheckedError(f"a search of more than {MAX_NODES} nodes")
        disjoint, union = 0, set[int]()
        for each in sorted(rest, key=len):
            if not each & union:
                union |= each
                disjoint += 1
        if disjoint > budget:
            continue
        if not rest:
            return False
        excluded = set[int]()
        for row in min(rest, key=len):
            others = [each - excluded for each in rest if row not in each]
            if all(others):
                stack.append((others, budget - 1))
            excluded.add(row)
    return True


# Intervals


class Enclosure:
    """A number between two decimals; every operation rounds outward."""

    __slots__ = ("high", "low")

    def __init__(self, low: Decimal, high: Decimal) -> None:
        self.low, self.high = low, high

    @classmethod
    def of(cls, value: Enclosure | Number) -> Enclosure:
        """Return the interval of an exact number."""
        if isinstance(value, Enclosure):
            return value
        if isinstance(value, Decimal):
            return cls(value, value)
        ratio = Decimal(value.numerator), Decimal(value.denominator)
        return cls(DOWN.divide(*ratio), UP.divide(*ratio))

    def __add__(self, other: Enclosure | Number) -> Enclosure:
        own = Enclosure.of(other)
        return Enclosure(DOWN.add(self.low, own.low), UP.add(self.high, own.high))

    def __radd__(self, other: Enclosure | Number) -> Enclosure:
        return self + other

    def __neg__(self) -> Enclosure:
        return Enclosure(self.high.copy_negate(), self.low.copy_negate())

    def __sub__(self, other: Enclosure | Number) -> Enclosure:
        return self + -Enclosure.of(other)

    def __rsub__(self, other: Enclosure | Number) -> Enclosure:
        return -self + other

    def __mul__(self, other: Enclosure | Number) -> Enclosure:
        own = Enclosure.of(other)
        if self.high.is_signed():
            return -(-self * own)
        if own.high.is_signed():
            return -(self * -own)
        if not (self.low.is_signed() or own.low.is_signed()):
            return Enclosure(DOWN.multiply(self.low, own.low), UP.multiply(self.high, own.high))
        pairs = [(a, b) for a in (self.low, self.high) for b in (own.low, own.high)]
        return Enclosure(min(DOWN.multiply(*pair) for pair in pairs), max(UP.multiply(*pair) for pair in pairs))

    def __rmul__(self, other: Enclosure | Number) -> Enclosure:
        return self * other

    def __truediv__(self, other: Enclosure | Number) -> Enclosure:
        own = Enclosure.of(other)
        if not own.low > 0:
            raise ArithmeticError("a divisor is not above 0")
        return self * Enclosure(DOWN.divide(1, own.high), UP.divide(1, own.low))

    def __rtruediv__(self, other: Enclosure | Number) -> Enclosure:
        return Enclosure.of(other) / self

    def _applied(self, name: str) -> Enclosure:  # an increasing function that decimal rounds to the nearest number
        low, high = getattr(DOWN, name)(self.low), getattr(UP, name)(self.high)
        return Enclosure(DOWN.next_minus(low), UP.next_plus(high))

    def exp(self) -> Enclosure:
        return self._applied("exp").positive()

    def ln(self) -> Enclosure:
        return self._applied("ln")

    def log1p(self) -> Enclosure:
        """Return ln(1 + x) for x from 0 on, which lies between x − x²/2 and x."""
        wide, near = (self + 1).ln(), self - self * self / 2
        return Enclosure(max(wide.low, near.low), min(wide.high, self.high))

    def sqrt(self) -> Enclosure:
        return self.positive()._applied("sqrt").positive()

    def positive(self) -> Enclosure:
        """Return the number, 0 if it is below 0."""
        return Enclosure(max(self.low, ZERO), max(self.high, ZERO))

    def size(self) -> Enclosure:
        """Return the absolute value."""
        if self.low.is_signed() and self.high > 0:
            return Enclosure(ZERO, max(self.low.copy_negate(), self.high))
        return -self if self.low.is_signed() else self

    def square(self) -> Enclosure:
        size = self.size()
        return size * size

    @property
    def middle(self) -> Decimal:
        return NEAREST.divide(NEAREST.add(self.low, self.high), 2)


Matrix = list[list[Enclosure]]
NOTHING = Enclosure(ZERO, ZERO)
PI = Enclosure(*(UP.scaleb(Decimal(31415926535897932384626433832795028841971 + k), -40) for k in (0, 1)))


def _sum(values: Any) -> Enclosure:
    return sum(values, NOTHING)


def _product(a: Any, b: Any) -> Enclosure:
    return _sum(x * z for x, z in zip(a, b, strict=True))


def _norm(values: Any) -> Enclosure:
    return _sum(value.square() for value in values).sqrt()


def _largest(values: Any) -> Enclosure:
    ends = [(value.low, value.high) for value in values] or [(ZERO, ZERO)]
    return Enclosure(max(low for low, _ in ends), max(high for _, high in ends))


def _plain(a: list[Decimal], b: list[Decimal]) -> Decimal:
    return sum((x * z for x, z in zip(a, b, strict=True) if x), ZERO)


def _root(matrix: Matrix) -> Matrix | None:
    """Return about Tᵗ, the inverse of the Cholesky factor L of a matrix H; None if H is not positive definite."""
    factor, inverse = list[list[Decimal]](), list[list[Decimal]]()
    for i, entries in enumerate(matrix):
        row, new = list[Decimal](), [Decimal(int(i == j)) for j in range(len(matrix))]
        for known, images, entry in zip(factor, inverse, entries, strict=False):
            row.append((entry.middle - _plain(row, known[:-1])) / known[-1])
            new = [x - row[-1] * z for x, z in zip(new, images, strict=True)]
        square = entries[i].middle - _plain(row, row)
        if square <= 0:
            return None
        factor.append([*row, square.sqrt()])
        inverse.append([x / factor[-1][-1] for x in new])
    return [[Enclosure.of(value) for value in row[: i + 1]] for i, row in enumerate(inverse)]


def _images(root: Matrix, vector: list[Enclosure]) -> list[Enclosure]:
    return [_product(row, vector[: len(row)]) for row in root]


def _defect(root: Matrix, matrix: Matrix) -> Enclosure:
    """Return ‖TᵗHT − I‖; below 1, H is positive definite."""
    half = zip(*(_images(root, row) for row in matrix), strict=True)
    images = [_images(root, list(column)) for column in half]
    return _norm(entry - int(u == v) for u, row in enumerate(images) for v, entry in enumerate(row))


def _column_norms(root: Matrix) -> list[Enclosure]:
    return [_norm(row[j] for row in root[j:]) for j in range(len(root))]


# Convex objectives


class LossExpansion(NamedTuple):
    """Value, slopes and curvatures of the loss of a row."""

    value: Enclosure
    slopes: list[Enclosure]
    bends: Matrix


class Bound(NamedTuple):
    """The objective at a point, and upper bounds on its excess over the minimum and on distances from the minimiser."""

    primal: Enclosure
    gap: Decimal
    radii: list[Decimal] | None


class Objective:
    """Σ sᵢ ℓ(xᵢ·w) / Σ s + Σⱼ (aⱼ|wⱼ| + qⱼwⱼ²/2) of some rows, and bounds on its minimum over some columns.

    A point has one block of coefficients per score. Scores of classes are relative to the first (`reference` 1), whose
    block is absent. The ridge of a softmax, least over constants that are added to all classes, is then
    qⱼ(Σ δₖ² − (Σ δₖ)²/K)/2. With an L1 penalty each class of a softmax has its block.
    """

    def __init__(
        self,
        rows: LabelledRows,
        loss: str,
        columns: list[int],
        penalty: tuple[Fraction, Fraction],
        values: list[Vector],
    ) -> None:
        self.loss, self.columns, self.intercept = loss, columns, int(rows.data["intercept"])
        self.softmax, self.by_class = loss == "softmax", loss in ("logistic", "softmax")
        self.classes = rows.classes if self.softmax else 2
        self.reference = int(self.by_class and not (self.softmax and penalty[0]))
        self.blocks = self.classes - self.reference if self.softmax else 1
        self.places = [(b, j) for b in range(self.blocks) for j in columns]
        n, width = len(values), len(values[0])
        _limit("rows times columns", n * width, MAX_ENTRIES)
        _limit("rows times squared coefficients", n * len(self.places) ** 2, MAX_CURVATURES)
        total = sum(rows.weights)
        self.X = [[Enclosure.of(value) for value in x] for x in values]
        self.targets: list[Any] = list(rows.codes if self.by_class else rows.targets)
        self.shares = [Enclosure.of(weight / total) for weight in rows.weights]
        self.absolute, self.quadratic = (
            [NOTHING] * self.intercept + [Enclosure.of(factor)] * (width - self.intercept) for factor in penalty
        )
        self.penalised = any(penalty) or width == self.intercept

    def expand(self, x: list[Enclosure], target: Any, point: Matrix, slack: Decimal = ZERO) -> LossExpansion:
        """Return the expansion of the loss of a row; the squared hinge is curved where the margin lacks `slack`."""
        scores = [_product(x, block) for block in point]
        if self.by_class:
            scores = [NOTHING] * self.reference + scores
            odds = [NOTHING if k == target else (score - scores[target]).exp() for k, score in enumerate(scores)]
            others = _sum(odds)
            shares = [(Enclosure.of(1) if k == target else each) / (others + 1) for k, each in enumerate(odds)]
            slopes = [-others / (others + 1) if k == target else share for k, share in enumerate(shares)]
            rest = [_sum(share for k, share in enumerate(shares) if k != own) for own in range(len(shares))]
            bends = [[p * (rest[k] if k == m else -q) for m, q in enumerate(shares)] for k, p in enumerate(shares)]
            return LossExpansion(others.log1p(), slopes, bends)
        if self.loss == "squared":
            residual = scores[0] - target
            return LossExpansion(residual.square() / 2, [residual], [[Enclosure.of(1)]])
        short = 1 - scores[0] * target
        loss = short.positive()
        if self.loss == "hinge":
            return LossExpansion(loss, [Enclosure.of(-target if short.low > 0 else 0)], [[NOTHING]])
        return LossExpansion(loss.square(), [loss * (-2 * target)], [[Enclosure.of(2 if short.low > slack else 0)]])

    def mixed(self, values: list[Enclosure], k: int) -> Enclosure:
        """Return an entry of the gradient of the ridge with q = 1."""
        return values[k] - _sum(values) / self.classes if self.softmax and self.reference else values[k]

    def value(self, point: Matrix) -> Enclosure:
        """Return the objective at a point."""
        rows = zip(self.X, self.targets, self.shares, strict=True)
        total = _sum(share * self.expand(x, target, point).value for x, target, share in rows)
        for j, (a, q) in enumerate(zip(self.absolute, self.quadratic, strict=True)):
            column = [block[j] for block in point]
            total += a * _sum(each.size() for each in column)
            total += q * _sum(each * self.mixed(column, b) for b, each in enumerate(column)) / 2
        return total

    def derivatives(self, point: Matrix, slack: Decimal = ZERO) -> tuple[list[Enclosure], Matrix]:
        """Return the gradient, without that of a|w|, and the curvature, in the columns that vary."""
        units = [[Enclosure.of(int(b == c)) for c in range(self.blocks)] for b in range(self.blocks)]
        gradient = [self.quadratic[j] * self.mixed([block[j] for block in point], b) for b, j in self.places]
        matrix = [
            [self.quadratic[j] * self.mixed(units[b], c) if j == k else NOTHING for c, k in self.places]
            for b, j in self.places
        ]
        for x, target, share in zip(self.X, self.targets, self.shares, strict=True):
            _, slopes, bends = self.expand(x, target, point, slack)
            for u, (b, j) in enumerate(self.places):
                weighted = share * x[j]
                gradient[u] += weighted * slopes[b + self.reference]
                scaled = [weighted * bend for bend in bends[b + self.reference][self.reference :]]
                for v, (c, k) in enumerate(self.places[: u + 1]):
                    matrix[u][v] += scaled[c] * x[k]
        return gradient, [[matrix[max(u, v)][min(u, v)] for v in range(len(matrix))] for u in range(len(matrix))]

    def subgradient(self, gradient: list[Enclosure], point: Matrix) -> list[Enclosure]:
        """Return the gradient plus the subgradient of a|w| that is nearest to its opposite."""
        total = []
        for g, (b, j) in zip(gradient, self.places, strict=True):
            a, w = self.absolute[j], point[b][j]
            zero = w.low == 0 == w.high
            if zero and g.size().high <= a.low:
                total.append(NOTHING)
            elif w.low > 0 or (zero and g.high < 0):
                total.append(g + a)
            else:
                total.append(g - a if w.high < 0 or (zero and g.low > 0) else g)
        return total

    def curvature_bound(self, point: Matrix) -> tuple[Enclosure, list[Enclosure]] | None:
        """Return bounds on the suboptimality and on the distance of each coefficient from the minimiser, if any.

        With σ² = 1 − ‖TᵗHT − I‖, λ = ‖Tᵗg‖/σ, √κ = max ‖Tᵗx‖/σ and ν = √κ λ < 1 they are ½λ²(1 + ν/(3(1 − ν))) and
        λ‖Tⱼ‖/((1 − ν)σ). For the squared loss ν counts as 0; for the squared hinge too, if 2ν is at most the slack of
        the rows that count in H.
        """
        slack = SLACK if self.loss == "squared hinge" else ZERO
        gradient, matrix = self.derivatives(point, slack)
        root = _root(matrix)
        if root is None or not (square := 1 - _defect(root, matrix)).low > 0:
            return None
        sigma, share = square.sqrt(), NOTHING
        decrement = _norm(_images(root, self.subgradient(gradient, point))) / sigma
        if self.loss != "squared":
            share = decrement * self.longest(root, point, slack) / sigma
            if not ((2 * share).high <= slack if slack else share.high < 1):
                return None
        share = share if self.by_class else NOTHING
        gap = decrement.square() / 2 * (1 + share / (3 * (1 - share)))
        return gap, [decrement * length / ((1 - share) * sigma) for length in _column_norms(root)]

    def longest(self, root: Matrix, point: Matrix, slack: Decimal) -> Enclosure:
        """Return a bound on ‖Tᵗx‖ of the rows that have curvature; of classes, for each pair."""
        size, lengths = len(self.columns), [NOTHING]
        for x, target in zip(self.X, self.targets, strict=True):
            if slack and not self.expand(x, target, point, slack).bends[0][0].high:
                continue
            own, images = [x[j] for j in self.columns], [[NOTHING] * len(root)]
            for b in range(self.blocks):
                parts = [row[b * size : (b + 1) * size] for row in root]
                images.append([_product(part, own[: len(part)]) for part in parts])
            lengths += [_norm(p - q for p, q in zip(*pair, strict=True)) for pair in combinations(images, 2)]
        return _largest(lengths)

    def refined(self, point: Matrix) -> Matrix:
        """Return a point nearer to the minimiser, by Newton steps that end where a coefficient with a|w| reaches 0."""
        value, last = self.value(point).middle, Decimal(math.inf)
        for _ in range(MAX_STEPS):
            own = [point[b][j].middle for b, j in self.places]
            gradient, matrix = self.derivatives(point)
            slopes = [slope.middle for slope in self.subgradient(gradient, point)]
            kinks = [u for u, (_, j) in enumerate(self.places) if self.absolute[j].high]
            step = self.newton_step(matrix, slopes, [u for u in kinks if not own[u]])
            decrement = _plain(step, slopes).copy_negate()
            if not decrement > value * FINEST or last < 2 * decrement < value * NEAR:  # the rest is rounding
                return point
            last = decrement
            ends = {u: (own[u] / step[u]).copy_negate() for u in kinks if own[u] * step[u] < 0}
            length = min([Decimal(1), *ends.values()])
            while length > FINEST:
                moved = [ZERO if ends.get(u) == length else w + length * step[u] for u, w in enumerate(own)]
                trial = [list(block) for block in point]
                for (b, j), w in zip(self.places, moved, strict=True):
                    trial[b][j] = Enclosure.of(w)
                reached = self.value(trial).middle
                if reached < value or decrement < value * NEAR:
                    break
                length /= 2
            else:
                return point
            point, value = trial, reached
        if self.penalised:  # there is a minimum
            raise UncheckedError(f"a minimum further than {MAX_STEPS} Newton steps")
        return point

    def newton_step(self, matrix: Matrix, slopes: list[Decimal], at_zero: list[int]) -> list[Decimal]:
        """Return −H⁻¹g over the coefficients with slopes, of those at a kink only the ones that leave it downwards."""
        fixed = [(0, 0)] if self.softmax and self.intercept and not self.reference else []  # it changes no difference
        moving = [u for u, slope in enumerate(slopes) if (slope or u not in at_zero) and self.places[u] not in fixed]
        damping = DAMPING if self.softmax and not (self.reference or self.quadratic[-1].high) else ZERO
        while True:
            step, part = (
                [ZERO] * len(slopes),
                [[matrix[u][v] * (1 + damping * (u == v)) for v in moving] for u in moving],
            )
            root = _root(part)
            if root is None and not damping and self.absolute[-1].high:  # a|w| alone tells some columns apart
                damping = DAMPING
                continue
            if root is None:
                return step
            images = _images(root, [Enclosure.of(slopes[u]) for u in moving])
            for place, u in enumerate(moving):
                step[u] = (-_product([row[place] for row in root[place:]], images[place:])).middle
            wrong = [u for u in moving if u in at_zero and step[u] * slopes[u] >= 0]
            if not wrong:
                return step
            moving = [u for u in moving if u not in wrong]

    def dual_slopes(self, point: Matrix) -> Matrix:
        """Return the slopes at a point, those of classes in the domain of the conjugate."""
        slopes = []
        for x, target in zip(self.X, self.targets, strict=True):
            row = [Enclosure.of(slope.middle) for slope in self.expand(x, target, point).slopes]
            if self.by_class:
                row[target] = NOTHING
                total = Enclosure.of(max(_sum(row).high, Decimal(1)))
                row = [slope / total for slope in row]
                row[target] = -_sum(row)
            slopes.append(row)
        return slopes

    def balanced(self, slopes: Matrix) -> Matrix:
        """Return slopes, with an intercept those of one sign made smaller so that their mean is about 0."""
        rows = [*zip(self.shares, slopes, strict=True)]
        sums = [_sum(share * (row[0] * sign).positive() for share, row in rows).middle for sign in (1, -1)]
        if not self.intercept or not min(sums):
            return slopes
        up, down = (Enclosure.of(min(sums) / own) for own in sums)
        return [[slope * (up if slope.high > 0 else down)] for (slope,) in slopes]

    def conjugate(self, slopes: list[Enclosure], target: int) -> Enclosure:
        """Return a lower bound on −ℓ* at the slopes of a row."""
        if self.by_class:
            shares = [slope + 1 if k == target else slope for k, slope in enumerate(slopes)]
            return _sum(-(share * share.ln()) for share in shares if share.low > 0)  # the others add 0 or more
        if self.loss == "squared":
            return -(slopes[0] * target + slopes[0].square() / 2)
        size = slopes[0] * -target
        return size if self.loss == "hinge" else size - size.square() / 4

    def dual_bound(self, slopes: Matrix, most: Enclosure) -> Decimal:
        """Return a lower bound on a minimum that is at most `most`, by slopes α in the domain of the conjugate.

        It is −mean ℓ*(α) − Σ (|v| − a)₊²/(2q), v = mean αx, less |mean α| times a bound on the intercept. Without a
        ridge the slopes are made smaller until |v| ≤ a.
        """
        weighted = [[share * slope for slope in row] for row, share in zip(slopes, self.shares, strict=True)]
        scores = [*zip(*weighted, strict=True)][1 if self.loss == "logistic" else 0 :]
        means = [[_product(alpha, column).size() for column in zip(*self.X, strict=True)] for alpha in scores]
        terms = [
            term for row in means for term in [*zip(row, self.absolute, self.quadratic, strict=True)][self.intercept :]
        ]
        ratios = [DOWN.divide(a.low, v.high) for v, a, q in terms if v.high > a.low and not q.high]
        scale = Enclosure.of(min([Decimal(1), *ratios]))
        rows = zip(slopes, self.targets, self.shares, strict=True)
        lower = _sum(share * self.conjugate([scale * slope for slope in row], target) for row, target, share in rows)
        lower -= _sum((v - a).positive().square() / (2 * q) for v, a, q in terms if q.high)
        if self.intercept and any(row[0].high for row in means):
            bound = self.intercept_bound(most)
            lower = NOTHING if bound is None else lower - scale * _sum(row[0] for row in means) * bound
        return max(lower.low, ZERO)

    def intercept_bound(self, most: Enclosure) -> Enclosure | None:
        """Return a bound on the intercept where the objective is at most `most`; of a softmax, half that of pairs."""
        rows, sizes = [x[self.intercept :] for x in self.X], NOTHING
        if self.quadratic[-1].high:
            lengths, sizes = [_norm(x) for x in rows], (2 * most / self.quadratic[-1]).sqrt()
        else:
            lengths = [_largest(value.size() for value in x) for x in rows]
            sizes = most / self.absolute[-1] if self.absolute[-1].high else NOTHING
        reach = _largest(lengths) * sizes
        if self.loss == "squared":
            return (2 * most).sqrt() + _product(self.shares, self.targets).size() + reach
        codes = sorted({*range(self.classes)} if self.by_class else {-1, 1})
        shares = [_sum(s for s, target in zip(self.shares, self.targets, strict=True) if target == k) for k in codes]
        least = min(shares, key=lambda share: share.low)
        if not least.low > 0:
            return None
        return (most / least + Enclosure.of(2).sqrt() * reach) / 2 if self.softmax else most / least + reach

    def bounds(self, point: Matrix, gauge: Enclosure, given: Matrix | None) -> Iterator[Bound]:
        """Yield bounds on the suboptimality of a point, whose objective is larger by `gauge`; 0 if no column varies.

        First by the curvature there, then at a point nearer to the minimiser or, for the hinge, at a dual point.
        """
        primal = self.value(point) + gauge
        if not self.places:
            yield Bound(primal, ZERO, [])
        yield Bound(primal, primal.high, None)  # losses and penalties are not below 0
        if self.loss == "hinge":
            for slopes in [self.dual_slopes(point), *([given] if given else [])] if self.penalised else []:
                yield Bound(primal, (primal - self.dual_bound(self.balanced(slopes), primal)).high, None)
            return
        if (found := self.curvature_bound(point)) is not None:
            yield Bound(primal, (found[0] + gauge).high, [radius.high for radius in found[1]])
        better = self.refined(point)
        value = self.value(better)
        if (found := self.curvature_bound(better)) is not None:
            moved = [(point[b][j] - better[b][j]).size() for b, j in self.places]
            radii = [(way + radius).high for way, radius in zip(moved, found[1], strict=True)]
            yield Bound(primal, (primal - value + found[0]).high, radii)
        if self.penalised:
            yield Bound(primal, (primal - self.dual_bound(self.dual_slopes(better), value)).high, None)

    def baseline(self) -> Enclosure:
        """Return the least mean loss of a constant score: of 0 without an intercept."""
        rows = [*zip(self.shares, self.targets, strict=True)]
        if self.loss == "squared":
            mean = _sum(share * target for share, target in rows) if self.intercept else NOTHING
            return _sum(share * (target - mean).square() for share, target in rows) / 2
        codes = range(self.classes) if self.by_class else (-1, 1)
        parts = [_sum(share for share, target in rows if target == k) for k in codes]
        if self.by_class:
            parts = parts if self.intercept else [Enclosure.of(Fraction(1, self.classes))] * self.classes
            odds = [_sum(parts[:k] + parts[k + 1 :]) / part for k, part in enumerate(parts) if part.low > 0]
            return _sum(part * each.log1p() for part, each in zip((p for p in parts if p.low > 0), odds, strict=True))
        if not self.intercept:
            return Enclosure.of(1)
        least = min(parts, key=lambda part: part.low) * 2
        return least if self.loss == "hinge" else parts[0] * parts[1] * 4


class Stated(NamedTuple):
    """What is asserted of coefficients: bounds on objective, gap, relative gap and distances; the columns that vary."""

    primal: Enclosure
    gap: Enclosure
    relative_gap: Enclosure
    radii: list[Vector] | None
    aliased: list[int]
    held: list[int]

    @classmethod
    def of(cls, numbers: list[Any], statement: Group, values: list[Vector], blocks: int | None) -> Stated:
        """Read a statement."""
        primal, gap, relative_gap = (Enclosure.of(_float(number, 0.0)) for number in numbers)
        width = len(values[0])
        radii = None if statement["radii"] is None else _blocks(statement["radii"], width, blocks, 0.0)
        aliased, held = _wholes(statement["aliased"], width), _wholes(statement["held"], width)
        _require(not {*aliased} & {*held} and not (held and radii is None), "the held columns do not fit")
        return cls(primal, gap, relative_gap, radii, aliased, held)

    def varying(self, relations: Any, values: list[Vector]) -> list[int]:
        """Return the columns that vary; those that are aliased must be combinations of others, exactly."""
        width = len(values[0])
        vectors, dependent = _relations(_list(relations, len(self.aliased)), width), {*self.aliased, *self.held}
        fits = all(int(key) not in dependent for relation in relations for key in relation)
        _require(fits, "a relation has a column that is aliased or held")
        for column, vector in zip(self.aliased, vectors, strict=True):
            _require(all(_dot(vector, x) == x[column] for x in values), "a row breaks a relation of columns")
        return [j for j in range(width) if j not in dependent]

    def check(self, objective: Objective, bounds: Iterator[Bound], factor: Fraction) -> None:
        """Refuse numbers that do not follow from the bounds times a factor."""
        limits = [Enclosure.of(self.radii[b][j]).low for b, j in objective.places] if self.radii else []
        floor, least, distances = objective.baseline() * factor * NEGLIGIBLE, Decimal(math.inf), list[Decimal]()
        for primal, gap, radii in bounds:
            value, least = primal * factor, min(least, (Enclosure.of(gap) * factor).high)
            scale = Enclosure.of(max(value.low, floor.low, SMALLEST))
            distances = [*map(min, distances or radii, radii)] if radii else distances
            near = self.radii is None or (distances and all(map(Decimal.__le__, distances, limits)))
            if least <= min(self.gap.low, (self.relative_gap * scale).low) and near:
                break
        _within("the objective", value.high, self.primal)
        _within("the gap", least, self.gap)
        _within("the relative gap", least, self.relative_gap * scale)
        if self.radii is not None:
            _require(bool(distances) or not limits, "no unique minimum is proved")
            _require(bool(near) or not limits, "a coefficient may be further from the minimiser than claimed")


def _within(what: str, proved: Decimal, claimed: Enclosure) -> None:
    if not claimed.low and ZERO < proved <= HIDDEN:
        raise UncheckedError(
            f"{what}: 0 is claimed, which {NEAREST.prec} digits do not distinguish from {float(proved):.6g}"
        )
    _require(proved <= claimed.low, f"{what}: at most {float(proved):.6g} is proved, {float(claimed.low):.6g} claimed")


def _blocks(value: Any, width: int, blocks: int | None, least: float = -math.inf) -> list[Vector]:
    """Return numbers (p,), or (p, K) with None blocks for one score, as one vector per score."""
    if blocks is None:
        return [_floats(value, width, least)]
    return [list(block) for block in zip(*(_floats(row, blocks, least) for row in _list(value, width)), strict=True)]


def _shown(number: Fraction | float, digits: int, *, down: bool = False) -> str:
    """Return a bound with so many digits, rounded up or down."""
    text, context = f"{float(number):.{digits - 1}e}", Context(prec=digits)
    if down and float(text) > number:
        text = str(context.next_minus(Decimal(text)))
    elif not down and float(text) < number:
        text = str(context.next_plus(Decimal(text)))
    return f"{float(text):.{digits}g}"


def _check_optimality(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    loss, softmax = statement["loss"], statement["loss"] == "softmax"
    tasks = {"squared": ("numbers", "two", "rest"), "softmax": ("two", "several")}
    _require(isinstance(loss, str) and loss in LOSSES, f"{loss!r:.40} is no loss")
    _require(rows.data["task"] in tasks.get(loss, ("two", "rest")), "the loss is not one of the task")
    if softmax:
        rows.require_labels(*tasks["softmax"])
    strength, ratio = float(_float(statement["strength"], 0.0)), float(_float(statement["l1_ratio"], 0.0))
    _require(ratio <= 1.0, "l1_ratio is above 1")
    values, intercept = rows.values, int(rows.data["intercept"])
    width, classes = len(values[0]), rows.classes if softmax else None
    if statement["scales"] is not None:
        scales = [float(scale) for scale in _floats(statement["scales"], width - intercept)]
        _require(min(scales, default=1.0) > 0.0, "a scale is not above 0")
        divide = [1.0] * intercept + scales
        values = [[Fraction(float(x) / scale) for x, scale in zip(row, divide, strict=True)] for row in values]
    stated = Stated.of([statement[name] for name in ("primal", "gap", "relative_gap")], statement, values, classes)
    _require(not (stated.aliased and strength), "columns are aliased, where a penalty tells them apart")
    coef, given = _blocks(witness["coef"], width, classes), _dual_point(witness, rows, loss)
    penalty = Fraction(strength * ratio), Fraction(strength * (1.0 - ratio))
    objective = Objective(rows, loss, stated.varying(witness["relations"], values), penalty, values)
    point, gauge = [[Enclosure.of(w) for w in block] for block in coef], NOTHING
    if softmax and objective.reference:
        point = _relative(coef)
        sums = [sum(column) for column in zip(*coef, strict=True)]
        gauge = _product(objective.quadratic, [Enclosure.of(total**2 / (2 * len(coef))) for total in sums])
        stated = stated._replace(radii=stated.radii and stated.radii[1:])
    elif softmax and stated.radii:
        raise UncheckedError("radii of a softmax with an L1 penalty")
    stated.check(objective, objective.bounds(point, gauge, given), Fraction(1))
    primal, gap, relative = (_float(statement[name]) for name in ("primal", "gap", "relative_gap"))
    words = f"the objective is at most {_shown(primal, 10)} and within {_shown(gap, 3)} of its minimum"
    kept = "no penalty" if not strength else f"strength {strength:.6g}, l1_ratio {ratio:.6g}"
    scaled = "" if statement["scales"] is None else " of scaled columns"
    weights = ", class weights" if rows.data["class_weights"] is not None else ""
    without = f", {rows.without}" if rows.without else ""
    conditions = f"relative gap {_shown(relative, 3)}; {loss} loss, {kept}{scaled}{weights}{without}"
    return _optimal(relative, stated.held), f"{words}{_dependence(stated, rows, softmax)} ({conditions}){rows.absent}"


def _optimal(relative_gap: Fraction, held: list[int]) -> str:
    return "stopped" if relative_gap > OPTIMAL_GAP else "optimal within" if held else "optimal"


def _column_names(data: Group) -> list[str]:
    return list(data["columns"] or (f"x{j + 1}" for j in range(data["width"])))


def _names(columns: list[int], rows: LabelledRows) -> str:
    """Return the names of columns of the design, of many the first."""
    dropped = rows.data["dropped"] or []
    names = [name for place, name in enumerate(_column_names(rows.data)) if place not in dropped]
    first = "intercept"
    while first in names:
        first = f"({first})"
    names = [first] * rows.data["intercept"] + names
    more = f" and {len(columns) - MAX_NAMES:,} more" if len(columns) > MAX_NAMES else ""
    return ", ".join(repr(names[column]) for column in columns[:MAX_NAMES]) + more


def _held(columns: list[int], rows: LabelledRows) -> str:
    """Return which columns a claim is about, if some are held."""
    return f" over the other columns, with {_names(columns, rows)} held" if columns else ""


def _dependence(stated: Stated, rows: LabelledRows, softmax: bool = False) -> str:
    """Return the clause of a claim about aliased and held columns."""
    aliased = stated.aliased
    if stated.held:
        return _held(stated.held, rows)
    if aliased:
        combined = "is a combination" if len(aliased) == 1 else "are combinations"
        return f", and the minimiser is not unique, as {_names(aliased, rows)} {combined} of other columns"
    if softmax and stated.radii is not None:
        return ", and the minimiser is unique up to constants added to all classes"
    return "" if stated.radii is None else ", and the minimiser is unique"


def _check_curvature(value: Any, rows: LabelledRows) -> None:
    """Check that the curvature of the likelihood at some coefficients proves that it has a maximum."""
    proof = _object(value, "coef aliased relations", "proof")
    classes = None if rows.classes == 2 else rows.classes
    dependence = {"radii": None, "aliased": proof["aliased"], "held": []}
    varying = Stated.of([0, 0, 0], dependence, rows.values, classes).varying(proof["relations"], rows.values)
    loss = "logistic" if classes is None else "softmax"
    objective = Objective(rows, loss, varying, (Fraction(0), Fraction(0)), rows.values)
    coef = _blocks(proof["coef"], len(rows.values[0]), classes)
    point = _relative([[Fraction(0)] * len(coef[0]), *coef] if classes is None else coef)
    _require(any(bound.radii is not None for bound in objective.bounds(point, NOTHING, None)), "it proves no maximum")


def _relative(blocks: list[Vector]) -> Matrix:
    """Return the coefficients of several classes relative to those of the first."""
    return [[Enclosure.of(w - v) for w, v in zip(block, blocks[0], strict=True)] for block in blocks[1:]]


def _dual_point(witness: Group, rows: LabelledRows, loss: str) -> Matrix | None:
    """Return a solver's dual point, which must be in the domain of the conjugate; None if there is none."""
    given = witness["dual_rows"], witness["dual_values"]
    _require((given[0] is None) == (given[1] is None), "the dual point has no rows, or no values")
    if given[0] is None:
        return None
    places = _wholes(given[0], len(rows.codes))
    slopes = dict(zip(places, _floats(given[1], len(places)), strict=True))
    _require(loss != "softmax", "a dual point of several scores")
    most = {"hinge": 1, "logistic": 1}.get(loss, math.inf)
    for place, slope in slopes.items():
        inside = loss == "squared" or 0 <= -slope * rows.targets[place] <= most
        _require(inside, f"the dual point of row {rows.numbers[place]} is not in the domain of the conjugate")
    return [[Enclosure.of(slopes.get(i, Fraction(0)))] for i in range(len(rows.codes))]


def _check_likelihood(_: Group, witness: Group, rows: LabelledRows) -> Result:
    inner, existence = _object(witness["optimality"], "statement witness", "optimality"), witness["existence"]
    own = _object(inner["statement"], FIELDS["optimality"][0], "statement")
    _require(own["loss"] in ("logistic", "softmax") and own["strength"] == 0, "it is no likelihood without a penalty")
    verdict, claim = _check_part("optimality", inner, rows)
    if existence is None:
        _require(own["radii"] is not None, "nothing proves that the likelihood has a maximum")
        return verdict, f"the likelihood has a maximum{_held(own['held'], rows)}; {claim}"
    exists, words = _check_part("separability", _object(existence, "statement witness", "existence"), rows)
    if exists == "overlap":
        return verdict, f"{words}; {claim}"
    return exists, f"{words}; the objective is at most {_shown(_float(own['primal']), 10)} at the coefficients"


def _check_least_squares(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    _require(rows.data["task"] == "numbers", "least squares of labels")
    names = ["rss", "excess", "relative_excess"]
    stated = Stated.of([statement[name] for name in names], statement, rows.values, None)
    _require(stated.radii is not None or not stated.aliased, "columns are aliased, where no radius is stated")
    coef, varying = _floats(witness["coef"], len(rows.values[0])), stated.varying(witness["relations"], rows.values)
    objective = Objective(rows, "squared", varying, (Fraction(0), Fraction(0)), rows.values)
    bounds = objective.bounds([[Enclosure.of(w) for w in coef]], NOTHING, None)
    if all(_dot(coef, x) == y for x, y in zip(rows.values, rows.targets, strict=True)):
        bounds = (bound._replace(primal=NOTHING, gap=ZERO) for bound in bounds)
    stated.check(objective, bounds, 2 * sum(rows.weights, Fraction(0)))
    rss, excess, relative = (_float(statement[name]) for name in names)
    clause = _dependence(stated, rows)
    if len(rows.values) < len(coef) and not clause:
        clause = ", and the minimiser is not unique, as there are more coefficients than rows"
    words = f"the sum of squares is at most {_shown(rss, 10)} and within {_shown(excess, 3)} of its minimum{clause}"
    without = f"; {rows.without}" if rows.without else ""
    return _optimal(relative, stated.held), f"{words} (relative excess {_shown(relative, 3)}{without})"


# Closed forms and Firth's bias reduction


def _check_generative(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "several", "rest")
    classes, X = range(rows.classes), [x[1:] for x in rows.values]
    _limit("rows times columns", len(X) * len(X[0]), MAX_ENTRIES)
    _require(rows.data["intercept"], "an intercept is needed")
    columns, scores = range(len(X[0])), 1 if len(classes) == 2 else len(classes)
    coef = [_floats(row, len(columns)) for row in _list(witness["coef"], scores)]
    own = [*zip(rows.weights, rows.codes, X, strict=True)]
    masses = [sum((s for s, code, _ in own if code == k), Fraction(0)) for k in classes]
    means = [[sum(s * x[j] for s, code, x in own if code == k) / masses[k] for j in columns] for k in classes]
    spreads = [_dot(rows.weights, [(x[j] - means[code][j]) ** 2 for _, code, x in own]) / sum(masses) for j in columns]
    _require(min(spreads, default=1) > 0, "a column has no spread inside the classes")
    priors = None if statement["priors"] is None else _floats(statement["priors"], len(classes), 0.0)
    shares = priors or [mass / sum(masses) for mass in masses]
    _require(min(shares) > 0, "a prior is not above 0")
    centre = [sum(column) / len(classes) for column in zip(*means, strict=True)]
    true = [[(m - c) / v for m, c, v in zip(mean, centre, spreads, strict=True)] for mean in means]
    offsets = [
        Enclosure.of(share).ln() - sum((m + c) * w for m, c, w in zip(mean, centre, row, strict=True)) / 2
        for share, mean, row in zip(shares, means, true, strict=True)
    ]
    offsets = [offset - _sum(offsets) / len(classes) for offset in offsets]
    if scores == 1 and len(classes) == 2:
        true, offsets = [[b - a for a, b in zip(*true, strict=True)]], [offsets[1] - offsets[0]]
    units = [1 / Enclosure.of(v).sqrt() for v in spreads]
    for row, exact, b, offset in zip(coef, true, _floats(witness["intercept"], scores), offsets, strict=True):
        for w, t, unit in zip(row, exact, units, strict=True):
            _within("a weight", Enclosure.of(abs(w - t)).high, (unit + abs(t)) * CLOSE)
        reach = max(sum(abs(m * t) for m, t in zip(mean, exact, strict=True)) for mean in means)
        _within("an intercept", (offset - b).size().high, (offset.size() + 1 + reach) * CLOSE)
    prior = "the class frequencies as priors" if priors is None else f"the priors {[float(share) for share in priors]}"
    words = f"the weights follow from maximum likelihood for Gaussian classes with shared variances and {prior}"
    return "closed form", words


def _check_bias_reduction(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "rest")
    width, total = len(rows.values[0]), sum(rows.weights)
    coef, penalised = _floats(witness["coef"], width), _float(statement["penalised"])
    excess = None if statement["excess"] is None else _float(statement["excess"], 0.0)
    radii = None if statement["radii"] is None else _floats(statement["radii"], width, 0.0)
    _require((excess is None) == (radii is None), "excess and radii are given both or not at all")
    objective = Objective(rows, "logistic", list(range(width)), (Fraction(0), Fraction(0)), rows.values)
    firth = JeffreysPoint(objective, [[Enclosure.of(w) for w in coef]], Fraction(total))
    _within("minus the penalised log-likelihood", (-firth.value).high, Enclosure.of(-penalised))
    without = f"{rows.without}, " if rows.without else ""
    words = f"{without}the penalised log-likelihood (Firth) is at least {_rounded(penalised, 10, ROUND_FLOOR):g}"
    if excess is None or radii is None:
        return "stopped", f"{words}; no local maximum is proved"
    for concavity in firth.concavities():
        gain = (firth.gradient.square() / (2 * concavity)).high
        reaches = [(firth.gradient * length / (concavity * firth.sigma)).high for length in _column_norms(firth.root)]
        if gain <= Enclosure.of(excess).low and all(
            a <= Enclosure.of(b).low for a, b in zip(reaches, radii, strict=True)
        ):
            break
    else:
        raise ValueError("no local maximum so near is proved")
    near = f"it has a local maximum at most {_rounded(excess, 3, ROUND_CEILING):g} higher"
    verdict = "stationary" if excess <= OPTIMAL_GAP else "stopped"
    return verdict, f"{words}; {near}, each coefficient within its stated radius"


def _rounded(number: Fraction, digits: int, rounding: str) -> Decimal:
    return Context(prec=digits, rounding=rounding).create_decimal_from_float(float(number))


class JeffreysPoint:
    """ℓ* = Σ s log σ(y w·x) + ½ log det I at some coefficients, in coordinates z = Tᵗx with TᵗIT within ω of 1."""

    def __init__(self, objective: Objective, point: Matrix, total: Fraction) -> None:
        _, matrix = objective.derivatives(point)
        root = _root([[entry * total for entry in row] for row in matrix])
        _require(root is not None, "the columns are dependent")
        self.root: Matrix = root or []
        pairs = zip(objective.X, objective.targets, strict=True)
        parts = [(_images(self.root, x), objective.expand(x, code, point)) for x, code in pairs]
        weights = [share * total for share in objective.shares]
        curved = [(z, [s * part.bends[1][1] * b for b in z]) for s, (z, part) in zip(weights, parts, strict=True)]
        size = range(len(self.root))  # in the coordinates, where errors of the curvature are not those of the columns
        self.defect = _norm(_sum(z[a] * c[b] for z, c in curved) - int(a == b) for a in size for b in size)
        _require(self.defect.high < 1, "the columns are too nearly dependent")
        self.sigma = (1 - self.defect).sqrt()
        low, high = 1 / (1 + self.defect), 1 / (1 - self.defect)
        self.rows, loss, slopes = [], NOTHING, [NOTHING] * len(self.root)
        for (z, (value, (_, slope), (_, (_, bend)))), code, weight in zip(
            parts, objective.targets, weights, strict=True
        ):
            length = _sum(each.square() for each in z)
            leverage = Enclosure((length * low).low, (length * high).high)
            middle = Fraction(1, 2) - slope - code  # ½ − π
            factor = weight * (bend * leverage * middle - slope)
            slopes, loss = [a + factor * b for a, b in zip(slopes, z, strict=True)], loss + weight * value
            self.rows.append((weight * bend, middle, bend, length, leverage, z))
        self.kappa = _largest(row[3] for row in self.rows) * high
        self.gradient = _norm(slopes) / self.sigma
        error = self.defect * len(self.root) / (1 - self.defect) / 2
        self.value = Enclosure((-error).low, error.high) - loss - _sum(row[-1].ln() for row in self.root)

    def concavities(self) -> Iterator[Enclosure]:
        """Yield numbers c with −∇²ℓ* ⪰ cI in a ball around the point that has a maximum inside, as λ < cd.

        In the ball of radius d no score changes by more than t = √κ d. The first c is exp(−t) − κ/2. The second is μ at
        the point, less δ(m₃ + m₃m₄ + m₄^(3/2) + (m₃m₄ + m₅)/(2(1 − δm₃))), δ = d exp(t), mₖ = Σ s c q^(k/2).
        """
        halves = [Enclosure.of(Fraction(1, 2**k)) for k in range(1, 61)]
        balls = [(t, t / self.kappa.sqrt()) for t in halves]
        yield from self._largest([((-t).exp() - self.kappa / 2, d) for t, d in balls])
        least, lengths = self.least_curvature(), [(row[0], row[4], row[4].sqrt()) for row in self.rows]
        third = _sum(weight * q * root for weight, q, root in lengths)
        fourth = _sum(weight * q.square() for weight, q, _ in lengths)
        fifth = _sum(weight * q.square() * root for weight, q, root in lengths)
        fixed = third + third * fourth + fourth * fourth.sqrt()
        grown = [(t.exp() * d, d) for t, d in balls]
        falls = [
            (x * (fixed + (third * fourth + fifth) / (2 * (1 - x * third))), d)
            for x, d in grown
            if (x * third).high < 1
        ]
        yield from self._largest([(least - fall, d) for fall, d in falls])

    def _largest(self, choices: list[tuple[Enclosure, Enclosure]]) -> list[Enclosure]:
        fitting = [c for c, d in choices if self.gradient.high < (c * d).low]
        return [max(fitting, key=lambda c: c.low)] if fitting else []

    def least_curvature(self) -> Enclosure:
        """Return a lower bound μI on −∇²ℓ* = G − ½ Σ s c″ ‖z‖² zzᵗ + ½ ‖Σ s c′ (z·u) zzᵗ‖², with G within ω of 1."""
        width, omega = len(self.root), self.defect
        _limit("rows times cubed columns", len(self.rows) * width**3, MAX_CURVATURES)
        matrix = [[Enclosure.of(int(a == b)) for b in range(width)] for a in range(width)]
        third = [[[NOTHING] * width for _ in range(width)] for _ in range(width)]
        for weight, middle, bend, length, _, z in self.rows:
            fourth, skew = weight * (1 - 6 * bend) * length / 2, weight * middle * 2
            for a in range(width):
                for b in range(width):
                    product = z[a] * z[b]
                    matrix[a][b] -= fourth * product
                    for c in range(b + 1):
                        third[a][b][c] += skew * product * z[c]
        for a in range(width):
            for b in range(width):
                pairs = [(third[a][c][e] * third[b][c][e], 1 + (e < c)) for c in range(width) for e in range(c + 1)]
                matrix[a][b] += _sum(product * times for product, times in pairs) / 2
        longest = self.kappa
        changed = omega + longest * omega * ((1 + omega) / (1 - omega) + 2 + omega) / 2
        low, high = ZERO, min(matrix[a][a].low for a in range(width))
        for _ in range(
            40
        ):  # bisection: the largest μ at which the matrix less μ is positive definite; 0 proves nothing
            middle = (low + high) / 2
            shifted = [
                [entry - middle if a == b else entry for b, entry in enumerate(row)] for a, row in enumerate(matrix)
            ]
            root = _root(shifted)
            low, high = (low, middle) if root is None or not _defect(root, shifted).high < 1 else (middle, high)
        return (low - changed) / (1 + omega)


# Runs of a perceptron


class RunRule(NamedTuple):
    """The rule of a run: a row with y·score below the margin is a mistake; without a margin a score of 0 by `tie`."""

    batch: bool
    tie: int
    margin: Fraction
    rate: float
    inverse: bool

    @classmethod
    def of(cls, value: Any) -> RunRule:
        rule = _object(value, "update tie margin rate inverse", "rule")
        known = rule["update"] in ("single", "batch") and isinstance(rule["tie"], str) and rule["tie"] in TIES
        _require(known and type(rule["inverse"]) is bool and _float(rule["rate"]) > 0, "the rule is unknown")
        margin, rate = _float(rule["margin"], 0.0), float(rule["rate"])
        return cls(rule["update"] == "batch", TIES[rule["tie"]], margin, rate, rule["inverse"])

    def is_wrong_tie(self, sign: Fraction) -> bool:
        """Return whether a score of 0 is a mistake."""
        return self.tie not in (2, sign)

    def is_mistake(self, margin: Fraction, sign: Fraction) -> bool:
        return self.is_wrong_tie(sign) if margin == 0 == self.margin else margin < self.margin

    def rate_of(self, k: int) -> Fraction:
        return Fraction(self.rate / k if self.inverse else self.rate)


def _gamma(count: int) -> Fraction:
    """Return a bound on the relative error of so many roundings of floats."""
    return count * UNIT / (1 - count * UNIT)


class PerceptronRun(ABC):
    """A run in the space of the rows: what bounds its updates, and the updates themselves.

    A run in floats may update on a row that is right by less than the rounding error of its score.
    """

    def __init__(self, statement: Group, witness: Group, rows: LabelledRows, size: int) -> None:
        _require(rows.data["task"] in ("two", "rest"), "two classes are needed")
        self.rows, self.rule, self.roundings = rows, RunRule.of(statement["rule"]), len(rows.values[0]) + 4
        self.radius, self.earlier = _float(statement["radius"], 0.0), _whole(statement["earlier"])
        self.margin, self.bound = (
            None if statement[name] is None else _float(statement[name], 0.0) for name in ("margin", "bound")
        )
        self.updates = None if statement["updates"] is None else _whole(statement["updates"])
        self.converged, self.coef = statement["converged"], _floats(witness["coef"], size)
        self.separator = None if witness["separator"] is None else _floats(witness["separator"], size)
        _require(type(self.converged) is bool and self.margin != 0, "converged is no boolean, or the margin is 0")
        pairs = self.margin is None, self.separator is None, self.bound is None
        _require(pairs[0] == pairs[1] <= pairs[2], "margin, separator and bound do not go together")
        recorded, history = self.updates is not None and not self.rule.batch, witness["history"]
        _require((history is not None) == recorded, "each single update, and no other, has its row in the history")
        self.history = [_whole(row, len(rows.codes)) for row in _list(history, self.updates)] if recorded else []

    @abstractmethod
    def check_radius(self) -> None:
        """Refuse a radius that some row exceeds."""

    @abstractmethod
    def check_margin(self, separator: Vector, margin: Fraction) -> None:
        """Refuse a separator of a smaller margin."""

    @abstractmethod
    def check_converged(self) -> None:
        """Refuse last weights with mistakes."""

    @abstractmethod
    def replay(self, start: Vector) -> None:
        """Refuse updates that were made on rows without a mistake, or that lead to other weights."""

    def check(self, where: str, start: Vector) -> Result:
        """Check everything that is stated, and return the verdict and the claim."""
        self.check_radius()
        if self.separator is not None and self.margin is not None:
            self.check_margin(self.separator, self.margin)
            if self.bound is not None:
                self.check_bound(self.margin, self.bound, self.separator, start)
                _require((self.updates or 0) <= self.bound, "the run made more updates than the bound")
        if self.converged:
            self.check_converged()
        if self.updates is not None:
            self.replay(start)
        made = "a run" if self.updates is None else _counted(self.updates, "update")
        after = f" after {_counted(self.earlier, 'earlier update')}" if self.earlier else ""
        end = "; no row is a mistake at its last weights" if self.converged else ""
        run = f"{made}{after} {where}{end}{self.rows.absent}"
        return self.words(run, any(start))

    def words(self, run: str, started: bool) -> Result:
        if self.margin is None:
            return "no separator known", f"{run}; no separator is known, so there is no bound"
        known = f"{run}; a separator of margin γ = {float(self.margin):.6g}"
        if self.bound is None:
            return "no bound known", f"{known} is known, and no bound is claimed"
        ratio = float(self.radius) / float(self.margin)
        square = ratio * ratio
        plain = not (self.rule.inverse or self.rule.margin or self.rule.batch or started)
        textbook = plain and abs(float(self.bound) - square) <= SHOWN_DIGITS * square < math.inf
        allowed = f"allows at most {'(R/γ)² = ' if textbook else ''}{float(self.bound):.6g} updates"
        return "within bound", f"{known} {allowed}"

    def check_bound(self, margin: Fraction, bound: Fraction, separator: Vector, start: Vector) -> None:
        """Check that after more updates the progress along the separator would exceed the length of the weights."""
        _require(bound < MAX_UPDATES, "the bound is too large")
        t, summed = math.floor(bound) + 1, len(self.rows.codes) if self.rule.batch else 1
        rounding = _gamma(self.roundings) + _gamma(self.earlier + t + summed + 4)
        norm, length = (_norm(Enclosure.of(w) for w in weights) for weights in (start, separator))
        progress, rate = Enclosure.of(_dot(separator, start)) / length, Fraction(self.rule.rate)
        total, linear, constant = Enclosure.of(rate * t), Enclosure.of(self.radius**2 * rate * summed), norm.square()
        if self.rule.inverse:
            total = rate * Enclosure.of(Fraction(self.earlier + 1 + t, self.earlier + 1)).ln()
            linear, constant = NOTHING, constant + (self.radius * summed * rate * PI).square() / 6
        progress += margin * total
        linear += 2 * self.rule.margin + 2 * rounding * self.radius * norm
        square = 2 * rounding * self.radius**2
        grows = (2 * margin * progress - linear - 2 * square * total).low > 0 and margin**2 > square
        beyond = (progress.square() - constant - (linear + square * total) * total).low > 0
        _require(progress.low > 0 and grows and beyond, "the bound does not follow")

    def require_mistake(self, t: int, row: int, score: Enclosure, error: Enclosure) -> None:
        """Refuse an update on a row that was right, by more than rounding; `score` times the sign."""
        wrong = score.low <= (3 * error + self.rule.margin * (1 + 2 * UNIT)).high
        if score.low == 0 == score.high and not error.high and not self.rule.margin:
            wrong = self.rule.is_wrong_tie(self.rows.targets[row])
        _require(wrong, f"update {t} was made on row {self.rows.numbers[row]}, which was no mistake")


class LinearRun(PerceptronRun):
    """A run of linear weights, in rational numbers."""

    def check_radius(self) -> None:
        longest = max(_dot(x, x) for x in self.rows.values)
        _require(longest <= self.radius**2, "a row is longer than the radius")

    def check_margin(self, separator: Vector, margin: Fraction) -> None:
        least, square = min(_dot(separator, x) for x in self.rows.signed), _dot(separator, separator)
        _require(least > 0 and least**2 >= margin**2 * square, "the separator has a smaller margin")

    def check_converged(self) -> None:
        pairs = zip(self.rows.signed, self.rows.targets, strict=True)
        _require(not any(self.rule.is_mistake(_dot(self.coef, x), sign) for x, sign in pairs), "a row is a mistake")

    def replay(self, start: Vector) -> None:
        numbers = [*start, Fraction(self.rule.rate), *(value for x in self.rows.values for value in x)]
        self.grid = math.inf if self.rule.inverse else max(number.denominator for number in numbers) ** 3
        updates, summed = self.updates or 0, len(self.rows.values) if self.rule.batch else 1
        _limit("updates times numbers", updates * summed * len(start), MAX_ENTRIES)
        weights, sizes = list(start), [abs(w) for w in start]
        longest = math.isqrt(math.ceil(max(_dot(x, x) for x in self.rows.values))) + 1
        for t in range(1, updates + 1):
            rate = self.rule.rate_of(self.earlier + t)
            wrong = self.mistakes(t, weights, sizes) if self.rule.batch else self.single_mistake(t, weights, sizes)
            changes = [[rate * value for value in self.rows.signed[row]] for row in wrong]
            weights = [sum(column) for column in zip(weights, *changes, strict=True)]
            grown = [rate * len(wrong) * longest] * len(start) if self.rule.batch else map(abs, changes[0])
            sizes = [size + value for size, value in zip(sizes, grown, strict=True)]
        allowed = 3 * _gamma(updates + summed + 4) if updates else Fraction(0)
        near = all(abs(w - c) <= allowed * size for w, c, size in zip(weights, self.coef, sizes, strict=True))
        _require(near, "the updates lead to other weights")

    def single_mistake(self, t: int, weights: Vector, sizes: Vector) -> list[int]:
        """Return the row of an update, which must be a mistake."""
        row = self.history[t - 1]
        x = self.rows.signed[row]
        errors = [_gamma(len(x) + 2) * abs(w) + _gamma(t + 4) * size for w, size in zip(weights, sizes, strict=True)]
        error = _dot(errors, [abs(value) for value in x])
        self.require_mistake(t, row, Enclosure.of(_dot(weights, x)), Enclosure.of(error))
        return [row]

    def mistakes(self, t: int, weights: Vector, sizes: Vector) -> list[int]:
        """Return the mistakes before a batch update; where floats may find others, the run cannot be checked."""
        wrong, width, n = [], len(weights), len(self.rows.values)
        for i, x in enumerate(self.rows.signed):
            margin = _dot(weights, x)
            size, reach = _dot(map(abs, weights), map(abs, x)), _dot(sizes, map(abs, x))
            error = _gamma(width + 2) * size + _gamma(t + n + 4) * reach + 2 * UNIT * self.rule.margin
            if error and abs(margin - self.rule.margin) <= error and not (size + reach) * self.grid < 2**53:
                raise UncheckedError(f"update {t} of a batch run, in which a mistake depends on rounding")
            if self.rule.is_mistake(margin, self.rows.targets[i]):
                wrong.append(i)
        _require(bool(wrong), f"before update {t} no row was a mistake")
        return wrong


def _check_mistakes(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    width = len(rows.values[0])
    run = LinearRun(statement, witness, rows, width)
    return run.check(f"on rows within radius {float(run.radius):.6g}", _floats(witness["start"], width))


# Kernels


class FunctionSpace:
    """The kernel of each pair of rows, to which a constant is added; the first verifier's floats err by ε lengths."""

    def __init__(self, rows: LabelledRows, constant: int = 0) -> None:
        intercept = int(rows.data["intercept"])
        self.kernel, self.constant, self.X = rows.data["kernel"], constant, [x[intercept:] for x in rows.values]
        self.known = dict[tuple[int, int], Enclosure]()
        factor = 736 if self.kernel["name"] == "rbf" else self.kernel.get("degree", 1)
        self.roundings = factor * (len(self.X[0]) + 4) + 36
        self.words = f"the {self.kernel['name']} kernel"

    def entry(self, i: int, j: int) -> Enclosure:
        i, j = min(i, j), max(i, j)
        if (i, j) not in self.known:
            _limit("kernel entries times columns", (len(self.known) + 1) * (len(self.X[0]) + 20), MAX_ENTRIES)
            self.known[i, j] = self.value(self.X[i], self.X[j]) + self.constant
        return self.known[i, j]

    def value(self, a: Vector, b: Vector) -> Enclosure:
        if self.kernel["name"] == "rbf":
            difference = [x - z for x, z in zip(a, b, strict=True)]
            return Enclosure.of(-Fraction(self.kernel["gamma"]) * _dot(difference, difference)).exp()
        base = Fraction(self.kernel.get("gamma", 1)) * _dot(a, b) + Fraction(self.kernel.get("offset", 0))
        result, square, degree = Enclosure.of(1), Enclosure.of(base), self.kernel.get("degree", 1)
        while degree:
            result, square, degree = result * square if degree % 2 else result, square.square(), degree // 2
        return result

    def scores(self, coef: dict[int, Fraction]) -> list[Enclosure]:
        """Return Σ aⱼ k(xᵢ, xⱼ) of every row i."""
        return [_sum(self.entry(i, j) * a for j, a in coef.items()) for i in range(len(self.X))]

    def squared_norm(self, coef: dict[int, Fraction]) -> Enclosure:
        return _sum(self.entry(i, j) * (a * b) for i, a in coef.items() for j, b in coef.items()).positive()

    def margin(self, signs: Vector, scores: list[Enclosure], coef: dict[int, Fraction]) -> Decimal:
        """Return a lower bound on the least of y·score relative to the norm of a function."""
        least = Enclosure.of(min((score * sign).low for score, sign in zip(scores, signs, strict=True)))
        norm = self.squared_norm(coef).sqrt()
        return (least / norm).low if norm.low > 0 and least.low > 0 else ZERO

    @property
    def longest(self) -> Enclosure:
        """The length of the longest row."""
        return _largest(self.entry(i, i) for i in range(len(self.X))).sqrt()


class KernelRun(PerceptronRun):
    """A run in the space of a kernel, plus 1 for an intercept, from 0."""

    def __init__(self, statement: Group, witness: Group, rows: LabelledRows) -> None:
        super().__init__(statement, witness, rows, len(rows.codes))
        _require(not (self.earlier or self.rule.batch), "single updates from 0 are needed")
        self.space = FunctionSpace(rows, int(rows.data["intercept"]))
        self.roundings = self.space.roundings + 4

    def check_radius(self) -> None:
        _within("the longest row", self.space.longest.high, Enclosure.of(self.radius))

    def check_margin(self, separator: Vector, margin: Fraction) -> None:
        own = {i: a for i, a in enumerate(separator) if a}
        found = self.space.margin(self.rows.targets, self.space.scores(own), own)
        _require(found >= Enclosure.of(margin).high, "the separator has a smaller margin")

    def check_converged(self) -> None:
        own, signs = {i: a for i, a in enumerate(self.coef) if a}, self.rows.targets
        scores = zip(self.space.scores(own), signs, strict=True)
        right = [(score * sign).low > self.rule.margin for score, sign in scores]
        if not own and not self.rule.margin:
            right = [not self.rule.is_wrong_tie(sign) for sign in signs]
        _require(all(right), "a row may be a mistake at the last weights")

    def replay(self, start: Vector) -> None:
        coef, size, total = dict.fromkeys(range(len(start)), Fraction(0)), NOTHING, Fraction(0)
        scores = dict.fromkeys(self.history, NOTHING)
        for t, row in enumerate(self.history, start=1):
            rate, sign, length = self.rule.rate_of(t), self.rows.targets[row], self.space.entry(row, row).sqrt()
            error = (_gamma(self.space.roundings) + _gamma(t + 4)) * length * size
            self.require_mistake(t, row, scores[row] * sign, error)
            scores = {i: score + self.space.entry(i, row) * (rate * sign) for i, score in scores.items()}
            coef[row] += rate * sign
            size, total = size + rate * length, total + rate
        allowed = 3 * _gamma(len(self.history) + 4) * total
        near = all(abs(coef[i] - w) <= allowed for i, w in enumerate(self.coef))
        _require(near, "the updates lead to other weights")


def _check_kernel_mistakes(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    run = KernelRun(statement, witness, rows)
    where = f"within radius {float(run.radius):.6g} in the space of {run.space.words}"
    return run.check(where, [Fraction(0)] * len(rows.codes))


def _support(witness: Group, rows: LabelledRows) -> tuple[list[int], Fraction]:
    """Return the rows of a function, and its intercept."""
    intercept = _float(witness["intercept"])
    _require(not intercept or rows.data["intercept"], "an intercept, where the data have none")
    return _wholes(witness["rows"], len(rows.codes)), intercept


def _check_kernel_margin(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    rows.require_labels("two", "rest")
    lower, upper, radius = (_float(statement[name], 0.0) for name in ("lower", "upper", "radius"))
    (support, intercept), space = _support(witness, rows), FunctionSpace(rows)
    coef = dict(zip(support, _floats(witness["coef"], len(support)), strict=True))
    multipliers = dict(zip(support, _floats(witness["multipliers"], len(support), 0.0), strict=True))
    _require(lower <= upper, "the lower bound is above the upper bound")
    if lower:
        found = space.margin(rows.targets, [score + intercept for score in space.scores(coef)], coef)
        _require(found >= Enclosure.of(lower).high, "the function has a smaller margin")
    shares = dict[int, Fraction]()
    for signs in [[-1], [1]] if rows.data["intercept"] else [[-1, 1]]:
        own = {i: m for i, m in multipliers.items() if rows.targets[i] in signs}
        total = sum(own.values(), Fraction(0)) * (2 if len(signs) == 1 else 1)
        _require(total > 0, "the multipliers of a class are all 0")
        shares |= {i: m * rows.targets[i] / total for i, m in own.items()}
    _within("the distance of the classes", space.squared_norm(shares).sqrt().high, Enclosure.of(upper))
    _require(space.longest.low >= Enclosure.of(radius).high, "no row is as long as the radius")
    where, most = f"in the space of {space.words}", _shown(upper, 6)
    if lower:
        least = _shown(lower, 6, down=True)
        words = f"{len(support)} rows make a function that separates by {least}; none has more than {most}"
        return "separable", f"{where}: {words}"
    flat = float(upper) <= NO_MARGIN * float(radius)
    return "no margin" if flat else "undecided", f"{where}: no function has a margin above {most}"


def _check_kernel_optimality(statement: Group, witness: Group, rows: LabelledRows) -> Result:
    _require(rows.data["task"] in ("two", "rest"), "two classes are needed")
    strength, primal, dual = (_float(statement[name], 0.0) for name in ("strength", "primal", "dual"))
    (support, b), space = _support(witness, rows), FunctionSpace(rows)
    beta = dict(zip(support, _floats(witness["multipliers"], len(support)), strict=True))
    _require(strength > 0, "the strength is not above 0")
    caps = [weight / (strength * sum(rows.weights)) for weight in rows.weights]
    inside = all(0 <= value * rows.targets[i] <= caps[i] for i, value in beta.items())
    _require(inside, "a multiplier is not within its bounds")
    scores, norm = space.scores(beta), space.squared_norm(beta) / 2
    short = [(1 - (score + b) * sign).positive() for score, sign in zip(scores, rows.targets, strict=True)]
    value = norm + _sum(each * cap for each, cap in zip(short, caps, strict=True))
    _within("the objective", (value * strength).high, Enclosure.of(primal))
    least = Enclosure.of(sum(map(abs, beta.values()), Fraction(0))) - norm
    if rows.data["intercept"] and sum(beta.values()):
        least -= (1 + space.longest * (2 * value).sqrt()) * abs(sum(beta.values(), Fraction(0)))
    _require(max((least * strength).low, ZERO) >= Enclosure.of(dual).high, "the lower bound does not follow")
    relative = max(float(primal) - float(dual), 0.0) / max(float(primal), sys.float_info.min)
    value_words = f"at most {_shown(primal, 10)}, and at least {_shown(dual, 10, down=True)} for any weights"
    gap = f"a relative gap of {_shown(relative, 2)}; {len(support):,} support vectors{rows.absent}"
    words = f"with {space.words} and strength {float(strength):.6g} the objective is {value_words}: {gap}"
    return "optimal" if relative <= OPTIMAL_GAP else "stopped", words


CHECKS = {
    "separability": _check_separability,
    "margin": _check_margin,
    "zero-one": _check_zero_one,
    "optimality": _check_optimality,
    "likelihood": _check_likelihood,
    "least-squares": _check_least_squares,
    "generative": _check_generative,
    "bias-reduction": _check_bias_reduction,
    "mistakes": _check_mistakes,
    "kernel-mistakes": _check_kernel_mistakes,
    "kernel": _check_kernel_margin,
    "kernel-optimality": _check_kernel_optimality,
}


def _check_part(kind: Any, part: Any, rows: LabelledRows) -> Result:
    _require(isinstance(kind, str) and kind in CHECKS, f"{kind!r:.40} is no kind")
    _require((rows.data["kernel"] is not None) == kind.startswith("kernel"), "the kernel is missing, or not needed")
    groups = zip(("statement", "witness"), FIELDS[kind], strict=True)
    statement, witness = (_object(part[group], keys, group) for group, keys in groups)
    return CHECKS[kind](statement, witness, rows)


def check(certificate: Any, path: str, options: dict[str, str]) -> str:
    """Return the claim of a certificate that holds for a table; raise a ValueError if it does not."""
    root = certificate if isinstance(certificate, dict) else {}
    if root.get("format") == 1:
        raise UncheckedError("it was made by an older release; fit again")
    _object(certificate, KEYS, "the certificate")
    kind = root["kind"]
    _require(type(root["format"]) is int and root["format"] == 2 and isinstance(kind, str), "unknown format or kind")
    if kind not in (*CHECKS, "mixed"):
        raise UncheckedError(f"certificates of {kind[:40]!r}")
    given = root["data"] if isinstance(root["data"], dict) else {}
    data = _object({"dropped": None, **given}, DATA_KEYS, "data")
    _check_data(data)
    _require(data["dropped"] is None or kind in REDUCED, f"columns are dropped in a {kind} certificate")
    rows = LabelledRows(path, options, data)
    with localcontext(NEAREST):
        verdict, claim = _check_part(kind, root, rows) if data["scheme"] is None else _check_parts(root, rows)
    _require(data["scheme"] is not None or root["parts"] == [], "parts without a scheme")
    _require((root["verdict"], root["claim"]) == (verdict, claim), "verdict or claim do not follow from the statement")
    return claim


def _check_parts(root: Group, rows: LabelledRows) -> Result:
    """Check a certificate of each class against the rest, or of each pair of classes."""
    _require(root["statement"] is None and root["witness"] is None, "a statement besides the parts")
    kind, labels, everyone = root["kind"], rows.data["labels"], list(range(len(rows.codes)))
    parts = []
    if rows.data["scheme"] == "one-vs-rest":
        parts = [(repr(x), rows.part(everyone, [int(c == k) for c in rows.codes], [x])) for k, x in enumerate(labels)]
    else:
        for a, b in combinations(range(len(labels)), 2):
            own = [i for i in everyone if rows.codes[i] in (a, b)]
            part = rows.part(own, [int(rows.codes[i] == b) for i in own], [labels[a], labels[b]])
            parts.append((f"{labels[a]!r} and {labels[b]!r}", part))
    keys = f"statement witness{' kind' * (kind == 'mixed')}"
    given = [_object(part, keys, "part") for part in _list(root["parts"], len(parts))]
    kinds = [part.get("kind", kind) for part in given]
    _require(kind != "mixed" or len({*map(str, kinds)}) > 1, "mixed parts of one kind")
    results = [_check_part(own, part, data) for own, part, (_, data) in zip(kinds, given, parts, strict=True)]
    verdict = results[0][0] if len({result[0] for result in results}) == 1 else "mixed"
    return verdict, "; ".join(f"{name}: {words}" for (name, _), (_, words) in zip(parts, results, strict=True))


def main(arguments: list[str]) -> int:
    """Check a certificate against a table, print the result and return the exit status."""
    options = dict(zip(arguments[2::2], arguments[3::2], strict=False))
    if len(arguments) < 4 or not {"--target"} <= set(options) <= {"--target", "--weight"}:
        print(__doc__)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            certificate = json.load(file, object_pairs_hook=_pairs, parse_constant=_no_constant)
        if isinstance(certificate, dict) and "kind" not in certificate and "certificate" in certificate:
            certificate = certificate["certificate"]  # a model file
        print(ascii(f"proved: {check(certificate, arguments[1], options)}")[1:-1])
    except Overflow:
        print("cannot be checked here: numbers beyond the range of decimals")
        return 2
    except (UncheckedError, OSError) as error:
        print(ascii(f"cannot be checked here: {error}")[1:-1])
        return 2
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        print(ascii(f"not proved: {error}")[1:-1])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
