"""A second verifier, which needs only Python: separability, widest margin and fewest mistakes, in rational arithmetic.

    python standalone.py certificate.json data.csv --target COLUMN [--weight COLUMN]

It shares the format with the first verifier, but no code and no arithmetic. It finds columns by their names or, if the
certificate has none, by their order, and ends with 0 (proved), 1 (not proved: why) or 2 (it cannot be checked here).
"""

import csv
import json
import math
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

Vector = list[Fraction]
PRIME, EPSILON = 2**61 - 1, 2.0**-52
MAX_NODES = 50_000
LARGEST = Fraction(sys.float_info.max)
KEYS = ("format", "kind", "data", "statement", "witness", "parts", "verdict", "claim")
DATA_KEYS = [
    "rows",
    "width",
    "columns",
    "intercept",
    "weights",
    "class_weights",
    "offset",
    "trials",
    "penalty_factor",
    "bounds",
    "map",
    "kernel",
    "task",
    "labels",
    "scheme",
    "counts",
]
FIELDS = {  # the fields of each kind: those of the statement, and those of the witness
    "separability": ("n_left undecided", "weights proof divergence clashes widest"),
    "margin": ("lower upper", "coef rows multipliers"),
    "zero-one": ("upper lower", "coef subsystems packing"),
}
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


def _object(value: Any, keys: Any, what: str) -> dict[str, Any]:
    _require(isinstance(value, dict), f"{what} is no object")
    _require(sorted(value) == sorted(keys), f"{what} has the keys {sorted(value)}, not {sorted(keys)}")
    return dict(value)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
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
    _require(type(value) in (int, float) and abs(value) <= LARGEST, f"{value!r:.40} is no finite number")
    _require(Fraction(float(value)) == value and value >= least, f"{value!r:.40} is out of range")
    return Fraction(value)


def _floats(value: Any, size: int | None = None, least: float = -math.inf) -> Vector:
    return [_float(each, least) for each in _list(value, size)]


def _rational(value: Any) -> Fraction:
    if not isinstance(value, str):
        return _float(value)
    top, _, bottom = value.partition("/")
    digits = [part.removeprefix("-" if part is top else "") for part in (top, bottom or "1")]
    fits = all(part.isascii() and part.isdigit() and len(part) <= 4000 for part in digits)
    _require(fits and int(digits[1]) > 0 and ("/" not in value or bottom != ""), f"{value[:40]!r} is no fraction")
    return Fraction(int(top), int(digits[1]))


def _rationals(value: Any, size: int | None = None) -> Vector:
    return [_rational(each) for each in _list(value, size)]


def _relations(value: Any, width: int) -> list[Vector]:
    dense = []
    for relation in _list(value):
        _require(isinstance(relation, dict), "a relation is no object")
        places = {_place(key, width): _rational(number) for key, number in relation.items()}
        dense.append([places.get(j, Fraction(0)) for j in range(width)])
    return dense


def _place(key: str, width: int) -> int:
    fits = key.isascii() and key.isdigit() and len(key) < 16 and (key == "0" or key[0] != "0")
    _require(fits and int(key) < width, f"{key[:40]!r} is no column")
    return int(key)


# The data


def _kind_of(label: Any) -> str:
    if type(label) is bool:
        return "boolean"
    return "text" if type(label) is str else "number" if type(label) in (int, float) and math.isfinite(label) else ""


def _check_data(data: dict[str, Any]) -> None:
    """Refuse data that contradict themselves, and those that this verifier does not know."""
    n, width, labels, task = _whole(data["rows"]), _whole(data["width"]), _list(data["labels"]), data["task"]
    _require(all(type(data[key]) is bool for key in ("intercept", "weights")), "intercept and weights are no booleans")
    _require(
        [data[key] for key in ("offset", "trials", "penalty_factor", "bounds")] == [False, False, None, None], "data"
    )
    _require(task in ("numbers", "two", "several", "rest"), f"{task!r:.40} is no task")
    _require(data["scheme"] in (None, "one-vs-rest", "pairs"), f"{data['scheme']!r:.40} is no scheme")
    sizes = {"numbers": len(labels) == 0, "two": len(labels) == 2, "rest": len(labels) == 1, "several": len(labels) > 0}
    kinds = {_kind_of(label) for label in labels}
    _require(sizes[task] and len(kinds - {""}) <= 1 and "" not in kinds, "the labels do not fit the task")
    _require(len(set(labels)) == len(labels), "a label is given twice")
    counts = [_whole(count) for count in _list(data["counts"], len(labels) + (task in ("numbers", "rest")))]
    weighted = data["weights"] or data["class_weights"] is not None
    _require(0 not in counts and (sum(counts) < n if weighted else False) | (sum(counts) == n), "counts do not fit")
    _require(data["scheme"] is None or (task in ("two", "several") and len(labels) > 1), "the scheme needs labels")
    if data["class_weights"] is not None:
        _floats(data["class_weights"], len(labels), 0.0)
        _require(task != "rest", "class weights of one label")
    if data["columns"] is not None:
        names = _list(data["columns"], width)
        _require(all(type(name) is str for name in names) and len(set(names)) == width, "the columns do not fit")
    if data["map"] is not None or data["kernel"] is not None or task == "numbers":
        raise UncheckedError("certificates after a map, of a kernel or of numbers")


def _number(text: str) -> Fraction:
    """Return a cell as the float64 that it is; integers that float64 does not hold are refused."""
    _require("_" not in text and math.isfinite(float(text)), f"{text[:40]!r} is no finite number")
    value = Fraction(float(text))
    digits = text.strip().lstrip("+-")
    _require(not digits.isdigit() or abs(value) == int(digits), f"float64 does not hold {text[:40]}")
    return value


def _label_of(text: str, kind: str) -> Any:
    """Return a cell as a label of the certificate's type; None if it is none."""
    if kind == "text":
        return text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower())
    try:
        return Fraction(text.strip()) if "/" not in text and "_" not in text else None
    except ValueError:
        return None


class Rows:
    """The rows of a table that count: exact numbers with the intercept first, codes of their labels, row numbers."""

    def __init__(self, path: str, options: dict[str, str], data: dict[str, Any]) -> None:
        target, weight = options["--target"], options.get("--weight")
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, *lines = [line for line in csv.reader(file) if line]
        others = [name for name in header if name not in (target, weight)]
        names = data["columns"] or others
        fits = target in header and set(names) <= set(others) and len(names) == data["width"]
        _require(fits and len(set(header)) == len(header), f"the table has columns {header}, not {names}")
        _require(data["weights"] == (weight is not None), "sample weights are given, or missing, unlike in the fit")
        _require(len(lines) == data["rows"], f"{len(lines)} rows, where the certificate is of {data['rows']}")
        places = [header.index(name) for name in names]
        self.data, self.values, self.codes, self.numbers = data, list[Vector](), list[int](), list[int]()
        kind = _kind_of(data["labels"][0])
        known = {Fraction(x) if kind == "number" else x: code for code, x in enumerate(data["labels"])}
        class_weights = data["class_weights"] or [1] * len(known)
        for number, line in enumerate(lines):
            size = Fraction(1) if weight is None else _number(line[header.index(weight)])
            _require(size >= 0, f"row {number} has a weight below 0")
            code = known.get(_label_of(line[header.index(target)], kind), -1)
            if not size or (code >= 0 and not class_weights[code]):
                continue
            _require(
                code >= 0 or data["task"] == "rest", f"row {number} has a label that the certificate does not have"
            )
            self.values.append([Fraction(1)] * data["intercept"] + [_number(line[place]) for place in places])
            self.codes.append(int(code == 0) if data["task"] == "rest" else code)
            self.numbers.append(number)
        found = [self.codes.count(code) for code in range(max(2, len(known)) if data["task"] == "rest" else len(known))]
        _require((found[::-1] if data["task"] == "rest" else found) == data["counts"], "other rows of the labels count")

    def part(self, chosen: list[int], codes: list[int], labels: list[Any]) -> "Rows":
        """Return some of the rows with other codes."""
        part = object.__new__(Rows)
        part.data, part.codes = {**self.data, "labels": labels, "task": "two" if len(labels) == 2 else "rest"}, codes
        part.values, part.numbers = [self.values[i] for i in chosen], [self.numbers[i] for i in chosen]
        return part

    @property
    def signed(self) -> list[Vector]:
        """The rows times their signs ±1."""
        return [x if code else [-value for value in x] for x, code in zip(self.values, self.codes, strict=True)]


# Rational linear algebra


def _dot(a: Any, b: Any) -> Any:
    return sum((x * z for x, z in zip(a, b, strict=True) if x and z), Fraction(0))


def _eliminate(matrix: list[list[Any]], width: int, invert: Any, fit: Any) -> int:  # in place; returns the rank
    rank = 0
    for column in range(width):
        pivot = max(range(rank, len(matrix)), key=lambda i: abs(matrix[i][column]), default=None)
        if pivot is not None and matrix[pivot][column]:
            matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
            inverse = invert(matrix[rank][column])
            matrix[rank] = [fit(x * inverse) for x in matrix[rank]]
            for i in (i for i in range(len(matrix)) if i != rank and matrix[i][column]):
                matrix[i] = [fit(x - matrix[i][column] * z) for x, z in zip(matrix[i], matrix[rank], strict=True)]
            rank += 1
    return rank


def _rank(rows: list[Vector]) -> int:  # modulo a prime: at most the true rank
    matrix = [[x.numerator * pow(x.denominator, -1, PRIME) % PRIME for x in row] for row in rows]
    return _eliminate(matrix, len(rows[0]) if rows else 0, lambda x: pow(x, -1, PRIME), lambda x: x % PRIME)


def _scale(values: Any) -> Fraction:  # a power of 2 that brings the largest near 1
    largest: Fraction = max(abs(value) for value in values)
    return Fraction(2) ** (largest.denominator.bit_length() - largest.numerator.bit_length())


def _check_rounded(basis: list[Vector], residual: Vector, multipliers: Vector) -> None:
    _require(
        all(any(row) for row in basis) and all(any(column) for column in zip(*basis, strict=True)), "a 0 in the basis"
    )
    columns = [_scale(column) for column in zip(*basis, strict=True)]
    scaled = [[x * c for x, c in zip(row, columns, strict=True)] for row in basis]
    rows = [_scale(row) for row in scaled]
    floats = [[float(x * r) for x in row] for row, r in zip(scaled, rows, strict=True)]
    inverse = [[*row, *(float(i == j) for j in range(len(basis)))] for i, row in enumerate(floats)]
    _eliminate(inverse, len(basis), lambda x: 1.0 / x, float)  # R beside the identity, approximately
    exact = [[Fraction(x) for x in row[len(basis) :]] for row in inverse]
    product = [[_dot(row, column) for column in zip(*exact, strict=True)] for row in map(_exactly, floats)]
    defect = max(sum(abs((i == j) - product[i][j]) for i in range(len(basis))) for j in range(len(basis)))
    norm = max(sum(map(abs, column)) for column in zip(*exact, strict=True))
    _require(defect < 1, "the basis cannot be shown to be independent")
    bound = norm / (1 - defect) * max(abs(r * c) for r, c in zip(residual, columns, strict=True))
    _require(all(bound < m / r for m, r in zip(multipliers, rows, strict=True)), "the multipliers do not cancel")


def _exactly(row: list[float]) -> Vector:
    return [Fraction(x) for x in row]


# Separability


def _rays(rows: Rows) -> dict[int, Vector]:
    classes, rays = max(2, len(rows.data["labels"])), {}
    single = len(rows.data["labels"]) == 1 and rows.data["task"] != "rest"
    codes = [code + single for code in rows.codes]
    for number, (x, own) in enumerate(zip(rows.values, codes, strict=True)):
        for slot, other in enumerate(code for code in range(classes) if code != own):
            signs = [(code == own) - (code == other) for code in range(1, classes)]
            rays[number * (classes - 1) + slot] = [sign * value for sign in signs for value in x]
    return rays


def _check_overlap(proof: Any, rays: dict[int, Vector], left: set[int], width: int) -> int:
    proof = _object(proof, ("places", "multipliers", "columns", "relations"), "proof")
    places, columns = _wholes(proof["places"]), _wholes(proof["columns"], width)
    multipliers, relations = _rationals(proof["multipliers"], len(places)), _relations(proof["relations"], width)
    _require(
        left.issuperset(places) and len(places) >= len(columns), "the proof has rows that are not left, or too few"
    )
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
    value = _object(value, ("spanning", "aliases", "opposites", "signs"), "divergence")
    aliases, spanning = _relations(value["aliases"], width), _wholes(value["spanning"])
    _require(not any(_dot(alias, ray) for alias in aliases for ray in rays.values()), "a row breaks an alias")
    _require(
        set(spanning) <= set(rays) and _rank([rays[place] for place in spanning]) == len(spanning), "the rank differs"
    )
    _require(len(spanning) == width - _rank(aliases) == width - len(aliases), "the rank is other")
    opposites = [_rationals(vector, width) for vector in _list(value["opposites"])]
    _require(all(_dot(v, ray) >= 0 for v in opposites for ray in rays.values()), "a row is against an opposite")
    units = [{str(j): 1} for j in range(width)]
    span = _relations(units if proof is None else proof["relations"], width)
    _require(isinstance(value["signs"], dict), "signs is no object")
    for key, given in value["signs"].items():
        column, entry = _place(key, width), _object(given, ("sign", "places", "multipliers"), "sign")
        places, sign = [_whole(place) for place in _list(entry["places"])], entry["sign"]
        multipliers = _rationals(entry["multipliers"], len(places))
        _require(set(places) <= set(rays) and min(multipliers, default=0) >= 0, "a sign has other rows or multipliers")
        totals = [_dot(multipliers, [_dot(vector, rays[place]) for place in places]) for vector in span]
        follows = type(sign) is int and sign in (-1, 1) and totals == [sign * vector[column] for vector in span]
        _require(follows, f"the sign of column {column} does not follow")


def _check_separability(statement: dict[str, Any], witness: dict[str, Any], rows: Rows) -> tuple[str, str]:
    if witness["clashes"] or witness["widest"] or statement["undecided"] is not False:
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
    _require(len(left) == n_left and (proof is not None or not left), f"{len(left)} are left, claimed {n_left}")
    support = 0 if proof is None else _check_overlap(proof, rays, left, width)
    if divergence is not None:
        _require(weights is not None, "a divergence without a direction")
        _check_divergence(divergence, proof, rays, width)
    verdict = "separable" if proof is None else "overlap" if weights is None else "quasi"
    return verdict, _separability_claim(verdict, labels, classes, n_left, support)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _separability_claim(verdict: str, labels: list[Any], classes: int, n_left: int, support: int) -> str:
    words = VERDICTS[verdict]
    if classes == 1:
        return f"there is only one class, {labels[0]!r}: {words}"
    if verdict == "overlap":
        cancel = f", by {_counted(support, 'row')} that cancel"
        return f"{words}: no direction has every row on its own side{cancel}; the likelihood has a maximum"
    if verdict == "separable":
        return f"{words}: every row is on its own side; the likelihood has no maximum"
    left = _counted(n_left, "row" if classes == 2 else "row-and-class pair")
    return f"{words}: all but {left}, which overlap; the likelihood has no maximum"


# Margin and fewest mistakes


def _check_margin(statement: dict[str, Any], witness: dict[str, Any], rows: Rows) -> tuple[str, str]:
    signed, intercept = rows.signed, int(rows.data["intercept"])
    lower, upper = _float(statement["lower"], 0.0), _float(statement["upper"], 0.0)
    coef, chosen = _floats(witness["coef"], len(signed[0])), _wholes(witness["rows"], len(signed))
    multipliers = _floats(witness["multipliers"], len(chosen), 0.0)
    square = sum(value * value for value in coef[intercept:])
    _require(square > 0 and 0 < lower <= upper, "the weights are 0, or the bounds are not in order")
    margins = [_dot(coef, row) for row in signed]
    _require(min(margins) > 0 and min(margins) ** 2 >= lower**2 * square, "a row is not right by the lower bound")
    groups = (
        [[k for k, i in enumerate(chosen) if rows.codes[i] == code] for code in (0, 1)]
        if intercept
        else [list(range(len(chosen)))]
    )
    totals = [sum((multipliers[k] for k in group), Fraction(0)) for group in groups]
    _require(min(totals) > 0, "the multipliers of a class are all 0")
    share = {
        k: multipliers[k] / total / len(groups) for group, total in zip(groups, totals, strict=True) for k in group
    }
    point = [sum(share[k] * signed[i][j] for k, i in enumerate(chosen)) for j in range(intercept, len(coef))]
    _require(sum(value * value for value in point) <= upper**2, "the upper bound does not follow from the multipliers")
    gap = (float(upper) - float(lower)) / float(upper)
    widest = f"no halfspace has more than {float(upper):.10g} (relative gap {gap:.2g})"
    claim = f"every row is right, by {float(lower):.10g} at least; {widest}"
    return "widest margin" if gap <= 1e-6 else "separable", claim


def _check_mistakes(statement: dict[str, Any], witness: dict[str, Any], rows: Rows) -> tuple[str, str]:
    signed, upper, lower = rows.signed, _whole(statement["upper"]), _whole(statement["lower"])
    coef = _floats(witness["coef"], len(signed[0]))
    wrong = sum(_dot(coef, row) <= 0 for row in signed)
    _require(wrong == upper, f"the weights make {wrong} mistakes, claimed {upper}")
    sets = []
    for system in _list(witness["subsystems"]):
        own = _object(system, ("rows", "multipliers"), "subsystem")
        chosen, multipliers = _wholes(own["rows"], len(signed)), _rationals(own["multipliers"])
        _require(
            len(chosen) == len(multipliers) > 0 and min(multipliers) > 0,
            "a subsystem has a multiplier that is not above 0",
        )
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


CHECKS = {"separability": _check_separability, "margin": _check_margin, "zero-one": _check_mistakes}


def _check_part(kind: str, part: Any, rows: Rows) -> tuple[str, str]:
    statement, witness = (part[group] for group in ("statement", "witness"))
    return CHECKS[kind](
        _object(statement, FIELDS[kind][0].split(), "statement"),
        _object(witness, FIELDS[kind][1].split(), "witness"),
        rows,
    )


def check(certificate: Any, path: str, options: dict[str, str]) -> str:
    """Return the claim of a certificate that holds for a table; raise a ValueError if it does not."""
    root = certificate if isinstance(certificate, dict) else {}
    if root.get("format") == 1:
        raise UncheckedError("it was made by an older release; fit again")
    _object(certificate, KEYS, "the certificate")
    kind = root["kind"]
    _require(root["format"] == 2 and isinstance(kind, str), "format or kind is unknown")
    if kind not in CHECKS:
        raise UncheckedError(f"certificates of {kind[:40]!r}")
    data = _object(root["data"], DATA_KEYS, "data")
    _check_data(data)
    rows, labels = Rows(path, options, data), data["labels"]
    if data["scheme"] is None:
        _require(root["parts"] == [], "parts without a scheme")
        _require(kind == "separability" or data["task"] in ("two", "rest"), "two classes are needed")
        verdict, claim = _check_part(kind, root, rows)
    else:
        _require(root["statement"] is None and root["witness"] is None, "a statement besides the parts")
        everyone = list(range(len(rows.codes)))
        if data["scheme"] == "one-vs-rest":
            parts = [(repr(x), everyone, [int(c == k) for c in rows.codes], [x]) for k, x in enumerate(labels)]
        else:
            parts = []
            for a, b in combinations(range(len(labels)), 2):
                own = [i for i in everyone if rows.codes[i] in (a, b)]
                names = f"{labels[a]!r} and {labels[b]!r}"
                parts.append((names, own, [int(rows.codes[i] == b) for i in own], [labels[a], labels[b]]))
        given = [_object(part, ("statement", "witness"), "part") for part in _list(root["parts"], len(parts))]
        results = [
            (name, *_check_part(kind, part, rows.part(own, codes, of)))
            for part, (name, own, codes, of) in zip(given, parts, strict=True)
        ]
        verdict = results[0][1] if len({result[1] for result in results}) == 1 else "mixed"
        claim = "; ".join(f"{name}: {words}" for name, _, words in results)
    _require((root["verdict"], root["claim"]) == (verdict, claim), "verdict or claim do not follow from the statement")
    return claim


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
    except (UncheckedError, OSError) as error:
        print(ascii(f"cannot be checked here: {error}")[1:-1])
        return 2
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        print(ascii(f"not proved: {error}")[1:-1])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
