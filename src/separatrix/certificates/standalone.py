"""A second verifier, which needs only Python: separability, widest margin and fewest mistakes, in rational arithmetic.

    python standalone.py certificate.json data.csv --target COLUMN [--weight COLUMN]

It shares the format with the first verifier, but no code and no arithmetic. It finds columns by their names or, if the
certificate has none, by their order, and ends with 0 (proved), 1 (not proved: why) or 2 (it cannot be checked here).
"""

import csv
import json
import math
import re
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

Vector = list[Fraction]
PRIME = 2**61 - 1
MAX_NODES, MAX_RANK, MAX_BITS, MAX_NUMBER = 50_000, 60, 2**18, 1e150
FRACTION = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?")
PLACE = re.compile(r"0|[1-9][0-9]{0,14}")
KEYS = "format kind data statement witness parts verdict claim"
DATA_KEYS = (
    "rows width columns intercept weights class_weights offset trials penalty_factor bounds map kernel task labels"
    " scheme counts"
)
FIELDS = {
    "separability": {"statement": "n_left undecided", "witness": "weights proof divergence clashes widest"},
    "margin": {"statement": "lower upper", "witness": "coef rows multipliers"},
    "zero-one": {"statement": "upper lower", "witness": "coef subsystems packing"},
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


def _object(value: Any, keys: str, what: str) -> dict[str, Any]:
    _require(isinstance(value, dict), f"{what} is no object")
    _require(sorted(value) == sorted(keys.split()), f"{what} has the keys {sorted(value)}, not {sorted(keys.split())}")
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


def _check_data(data: dict[str, Any]) -> None:
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
    _require(0 not in counts and sum(counts) in (range(n + 1) if weighted else [n]), "counts do not fit")
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
    """The rows of a table that count: exact numbers with the intercept first, codes of their labels, row numbers."""

    def __init__(self, path: str, options: dict[str, str], data: dict[str, Any]) -> None:
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
        places = [header.index(name) for name in names]
        self.data, self.values, self.codes, self.numbers = data, list[Vector](), list[int](), list[int]()
        kind = _kind_of(data["labels"][0])
        known = {x: code for code, x in enumerate(data["labels"])}
        class_weights = data["class_weights"] or [1] * len(known)
        for number, line in enumerate(lines):
            size = 1.0 if weight is None else float(_number(line[header.index(weight)]))
            _require(size >= 0, f"row {number} has a weight below 0")
            code = known.get(_label_of(line[header.index(target)], kind), -1)
            if not size * (class_weights[code] if code >= 0 else 1):
                continue
            named = code >= 0 or data["task"] == "rest"
            _require(named, f"row {number} has a label that the certificate does not have")
            self.values.append([Fraction(1)] * data["intercept"] + [_number(line[place]) for place in places])
            self.codes.append(int(code == 0) if data["task"] == "rest" else code)
            self.numbers.append(number)
        found = [self.codes.count(code) for code in range(max(2, len(known)) if data["task"] == "rest" else len(known))]
        _require((found[::-1] if data["task"] == "rest" else found) == data["counts"], "other rows of the labels count")

    def part(self, chosen: list[int], codes: list[int], labels: list[Any]) -> "LabelledRows":
        """Return some of the rows with other codes."""
        part = object.__new__(LabelledRows)
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


def _check_separability(statement: dict[str, Any], witness: dict[str, Any], rows: LabelledRows) -> tuple[str, str]:
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


def _check_margin(statement: dict[str, Any], witness: dict[str, Any], rows: LabelledRows) -> tuple[str, str]:
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
    widest = f"no halfspace has more than {float(upper):.10g} (relative gap {gap:.2g})"
    claim = f"every row is right, by {float(lower):.10g} at least; {widest}"
    return "widest margin" if gap <= 1e-6 else "separable", claim


def _check_mistakes(statement: dict[str, Any], witness: dict[str, Any], rows: LabelledRows) -> tuple[str, str]:
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


CHECKS = {"separability": _check_separability, "margin": _check_margin, "zero-one": _check_mistakes}


def _check_part(kind: str, part: Any, rows: LabelledRows) -> tuple[str, str]:
    statement, witness = (_object(part[group], FIELDS[kind][group], group) for group in ("statement", "witness"))
    return CHECKS[kind](statement, witness, rows)


def check(certificate: Any, path: str, options: dict[str, str]) -> str:
    """Return the claim of a certificate that holds for a table; raise a ValueError if it does not."""
    root = certificate if isinstance(certificate, dict) else {}
    if root.get("format") == 1:
        raise UncheckedError("it was made by an older release; fit again")
    _object(certificate, KEYS, "the certificate")
    kind = root["kind"]
    _require(type(root["format"]) is int and root["format"] == 2 and isinstance(kind, str), "unknown format or kind")
    if kind not in CHECKS:
        raise UncheckedError(f"certificates of {kind[:40]!r}")
    data = _object(root["data"], DATA_KEYS, "data")
    _check_data(data)
    rows, labels = LabelledRows(path, options, data), data["labels"]
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
        given = [_object(part, "statement witness", "part") for part in _list(root["parts"], len(parts))]
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
