"""A second verifier of separability certificates (also each against the rest, and by pairs), which needs only Python:

    python standalone.py certificate.json data.csv --target COLUMN [--weight COLUMN]

It shares no code with the first, computes in rationals, finds columns by name or, failing that, by order, and ends
with 0 (it holds), 1 (it does not: why) or 2 (it cannot be checked here).
"""

import csv
import json
import sys
from fractions import Fraction
from typing import Any

Vector = list[Fraction]
PRIME, EPSILON = 2**61 - 1, 2.0**-52


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _read_table(path: str, options: dict[str, str], content: dict[str, Any]) -> Any:
    target, weight, names = options["--target"], options.get("--weight"), content["names"][content["fit_intercept"] :]
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *lines = [line for line in csv.reader(file) if line]
    wanted = names if set(names) <= set(header) else [name for name in header if name not in {target, weight}]
    _require(target in header and len(wanted) == len(names), f"the table has columns {header}, not {names}")
    rows = [[Fraction(float(line[header.index(name)])) for name in wanted] for line in lines]
    counts = [weight is None or float(line[header.index(weight)]) > 0 for line in lines]
    return rows, [line[header.index(target)] for line in lines], counts


def _key(label: object) -> object:  # 1 and 1.0 are the same label
    text = str(label)
    return float(text) if text.strip("+-").replace(".", "", 1).isdigit() else text


def _make_rays(rows: list[Vector], labels: list[str], counts: list[bool], content: dict[str, Any]) -> dict[int, Vector]:
    classes, rays = content["classes"], {}
    for number in (number for number, counted in enumerate(counts) if counted):
        own = [code for code, known in enumerate(classes) if _key(known) == _key(labels[number])]
        _require(len(own) == 1, f"row {number} has label {labels[number]!r}, not of {classes}")
        x = [Fraction(1), *rows[number]] if content["fit_intercept"] else rows[number]
        for slot, other in enumerate([code for code in range(len(classes)) if code not in own] or [None]):
            signs = [(code in own) - (code == other) for code in range(1, len(classes))] or [1]
            rays[number * max(1, len(classes) - 1) + slot] = [sign * value for sign in signs for value in x]
    return rays


def _dot(a: Any, b: Any) -> Any:
    return sum(x * z for x, z in zip(a, b, strict=True) if x and z)


def _dense(relations: list[dict[str, Any]], width: int) -> list[Vector]:
    return [[Fraction(relation.get(str(j), 0)) for j in range(width)] for relation in relations]


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


def _check_rounded(basis: list[Vector], residual: Vector, multipliers: Vector) -> None:
    def scale(values: Any) -> Any:  # a power of 2 that brings the largest near 1
        largest = max(abs(value) for value in values)
        return Fraction(2) ** (largest.denominator.bit_length() - largest.numerator.bit_length())

    columns = [scale(column) for column in zip(*basis, strict=True)]
    scaled = [[x * c for x, c in zip(row, columns, strict=True)] for row in basis]
    rows = [scale(row) for row in scaled]
    floats = [[float(x * r) for x in row] for row, r in zip(scaled, rows, strict=True)]
    inverse = [[*row, *(float(i == j) for j in range(len(basis)))] for i, row in enumerate(floats)]
    _eliminate(inverse, len(basis), lambda x: 1.0 / x, float)  # R beside the identity, approximately
    worst, norm = 0.0, 0.0  # ‖I − Z R‖₁ with its rounding, and ‖R‖₁
    for j, column in enumerate(zip(*(row[len(basis) :] for row in inverse), strict=True)):
        terms = [[x * z for x, z in zip(row, column, strict=True)] for row in floats]
        rounding = [(len(basis) + 6) * EPSILON * (sum(map(abs, row)) + 1.0) for row in terms]
        worst = max(worst, sum(abs(float(i == j) - sum(row)) for i, row in enumerate(terms)) + sum(rounding))
        norm = max(norm, sum(map(abs, column)))
    _require(worst < 0.5 and norm < 1e100, "the basis cannot be shown to be independent")
    largest = max(abs(r * c) for r, c in zip(residual, columns, strict=True))
    bound = Fraction(norm / (1.0 - worst) * (1.0 + 1e-9)) * largest
    _require(all(bound < m / r for m, r in zip(multipliers, rows, strict=True)), "the multipliers do not cancel")


def _check_overlap(proof: dict[str, Any], rays: dict[int, Vector], left: set[int], width: int) -> None:
    places, columns, multipliers = proof["rays"], proof["columns"], [Fraction(x) for x in proof["multipliers"]]
    fits = left.issuperset(places) and len(set(places)) == len(places) == len(multipliers) >= len(columns)
    _require(fits and all(m > 0 for m in multipliers), "the multipliers are not above 0, on rows left, one a row")
    dependent = sorted(set(range(width)) - set(columns))
    relations = _dense(proof["relations"], width)
    owned = sorted([j for j in dependent if relation[j]] for relation in relations)
    fits = len(set(columns)) == len(columns) == width - len(dependent) and owned == [[j] for j in dependent]
    _require(fits, "the dependent columns have not a relation each")
    _require(not any(_dot(r, rays[place]) for place in left for r in relations), "a row breaks a relation of columns")
    chosen = [[rays[place][j] for j in columns] for place in places]
    residual = [_dot(multipliers, column) for column in zip(*chosen, strict=True)]
    if any(residual):
        return _check_rounded(chosen[: len(columns)], residual, multipliers[: len(columns)])
    return _require(_rank(chosen[: len(columns)]) == len(columns), "the basis is not independent")


def _check_divergence(content: dict[str, Any], rays: dict[int, Vector], width: int) -> None:
    divergence, weights = content["divergence"], [Fraction(value) for value in content["direction"]]
    aliases = _dense(divergence["aliases"], width)
    _require(not any(_dot(alias, ray) for alias in aliases for ray in rays.values()), "a row breaks an alias")
    rank = _rank([rays[place] for place in divergence["spanning"]])
    _require(rank == len(divergence["spanning"]) == width - _rank(aliases) == width - len(aliases), "the rank is other")
    opposites = [list(map(Fraction, vector)) for vector in divergence["opposites"]]
    _require(all(_dot(v, ray) >= 0 for v in opposites for ray in rays.values()), "a row is against an opposite")
    proof = content["proof"] or {"relations": [{str(j): 1} for j in range(width)], "columns": []}
    span = _dense(proof["relations"], width)
    for column, entry in (signs := divergence["signs"]).items():
        multipliers, sign = [Fraction(value) for value in entry["multipliers"]], entry["sign"]
        totals = [_dot(multipliers, [_dot(vector, rays[place]) for place in entry["rays"]]) for vector in span]
        follows = totals == [sign * vector[int(column)] for vector in span] and sign in (-1, 1)
        _require(follows and min(multipliers) >= 0, f"the sign of column {column} does not follow")
    for j, claimed in enumerate(content["coefficient_status"].values()):
        opposed = not weights[j] or any(vector[j] * weights[j] < 0 for vector in opposites)
        status = "not estimable" if opposed else "diverges"
        status = {1: "+inf", -1: "-inf"}[signs[str(j)]["sign"]] if str(j) in signs else status
        status = status if any(vector[j] for vector in span) else "finite"
        status = "aliased" if any(alias[j] for alias in aliases) else status
        _require(claimed == status, f"coefficient {j} is claimed to be {claimed!r}; it is {status!r}")
    _require(content["divergence_dim"] == rank - len(proof["columns"]), "another number of directions diverges")


def check(certificate: dict[str, Any], rows: list[Vector], labels: list[str], counts: list[bool]) -> str:
    """Return what a certificate proves of some data; raise a ValueError if it does not hold."""
    kind, content = certificate["kind"], certificate["content"]
    if kind == "one-vs-rest":
        each = zip(content["parts"], map(_key, content["classes"]), strict=True)
        return "\n".join(check(part, rows, [str(_key(x) == own) for x in labels], counts) for part, own in each)
    if kind == "pairs":
        pairs = [(part, set(map(_key, part["content"]["classes"]))) for part in content["parts"]]
        counted = [[c and _key(x) in own for x, c in zip(labels, counts, strict=True)] for _, own in pairs]
        return "\n".join(check(part, rows, labels, used) for (part, _), used in zip(pairs, counted, strict=True))
    if kind != "separability" or certificate["verdict"] == "undecided" or "clashes" in content:
        raise NotImplementedError(f"a part is {kind}, {certificate['verdict']}{', clashes' * ('clashes' in content)}")
    _require(len(rows) == content["n_rows"] and (content["weighted"] or all(counts)), f"{len(rows)} rows do not fit")
    rays, proof, direction = _make_rays(rows, labels, counts, content), content["proof"], content["direction"]
    width, left = len(next(iter(rays.values()))), set(rays)
    verdict = "separable" if proof is None else "overlap" if direction is None else "quasi"
    _require(certificate["verdict"] == verdict, f"the verdict shown is {verdict!r}")
    if direction is not None:
        products = {place: _dot(map(Fraction, direction), ray) for place, ray in rays.items()}
        wrong = [place // max(1, len(content["classes"]) - 1) for place in rays if products[place] < 0]
        _require(not wrong, f"row {wrong[:1]} is on the wrong side")
        left = {place for place, product in products.items() if product == 0}
    fits = len(left) == content["n_left"] and (proof or not left) and (direction is None or len(left) < len(rays))
    _require(fits, f"{len(left)} of {len(rays)} are left, claimed {content['n_left']}")
    if proof is not None:
        _check_overlap(proof, rays, left, width)
    bare = not content["coefficient_status"] and content["divergence_dim"] == (0 if verdict == "overlap" else None)
    _require(content["divergence"] or bare, "there is no proof of what diverges")
    if content["divergence"]:
        _check_divergence(content, rays, width)
    return f"holds: {verdict}; {len(rays)} rays, {len(left)} left"


def main(arguments: list[str]) -> int:
    """Check a certificate against a table, print the result and return the exit status."""
    options = dict(zip(arguments[2::2], arguments[3::2], strict=False))
    if len(arguments) < 4 or not {"--target"} <= set(options) <= {"--target", "--weight"}:
        print(__doc__)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            root = json.load(file)
        if not isinstance(root, dict) or root.get("kind") not in ("separability", "one-vs-rest", "pairs"):
            raise NotImplementedError("it is no certificate of separability")
        print(check(root, *_read_table(arguments[1], options, root["content"].get("parts", [root])[0]["content"])))
    except (NotImplementedError, json.JSONDecodeError, OSError) as error:
        print(f"cannot be checked here: {error}")
        return 2
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        print(f"REFUSED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
