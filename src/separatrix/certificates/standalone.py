"""A second verifier of separability certificates, which shares no code with the first and needs only Python:

    python standalone.py certificate.json data.csv --target COLUMN [--weight COLUMN]

It computes in rationals (floats are rationals) and ends with 0 (it holds), 1 (it does not: why) or 2 (it cannot be
checked here). Columns are found by name or, failing that, by order. The mathematics: `overlap.py`, `divergence.py`.
"""

import csv
import json
import sys
from fractions import Fraction
from typing import Any

Vector = list[Fraction]
Rays = dict[int, Vector]
PRIME, EPSILON = 2**61 - 1, 2.0**-52


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _read_table(path: str, options: dict[str, str], content: dict[str, Any]) -> Any:
    target, weight, names = options["--target"], options.get("--weight"), content["names"][content["fit_intercept"] :]
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *lines = [line for line in csv.reader(file) if line]
    rest = [name for name in header if name not in {target, weight}]
    wanted = names if set(names) <= set(rest) else rest
    _require(target in header and len(wanted) == len(names), f"the table has columns {header}, not {names}")
    rows = [[Fraction(float(line[header.index(name)])) for name in wanted] for line in lines]
    counts = [weight is None or float(line[header.index(weight)]) > 0 for line in lines]
    return rows, [line[header.index(target)] for line in lines], counts


def _make_rays(rows: list[Vector], labels: list[str], counts: list[bool], content: dict[str, Any]) -> Rays:
    def key(label: object) -> object:  # 1 and 1.0 are the same label
        text = str(label)
        return float(text) if text.strip("+-").replace(".", "", 1).isdigit() else text

    classes, rays = content["classes"], {}
    for number in (number for number, counted in enumerate(counts) if counted):
        own = [code for code, known in enumerate(classes) if key(known) == key(labels[number])]
        _require(len(own) == 1, f"row {number} has label {labels[number]!r}, not of {classes}")
        x = [Fraction(1), *rows[number]] if content["fit_intercept"] else rows[number]
        for slot, other in enumerate([code for code in range(len(classes)) if code not in own] or [None]):
            signs = [(code in own) - (code == other) for code in range(1, len(classes))] or [1]
            rays[number * max(1, len(classes) - 1) + slot] = [sign * value for sign in signs for value in x]
    return rays


def _dot(a: Any, b: Any) -> Fraction:
    return sum((x * z for x, z in zip(a, b, strict=True) if x and z), Fraction(0))


def _dense(relation: dict[str, Any], width: int) -> Vector:
    return [Fraction(relation.get(str(j), 0)) for j in range(width)]


def _rank(rows: list[Vector]) -> int:  # modulo a prime: at most the true rank
    matrix = [[x.numerator * pow(x.denominator, -1, PRIME) % PRIME for x in row] for row in rows]
    rank = 0
    for column in range(len(matrix[0]) if matrix else 0):
        pivot = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if pivot is not None:
            matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
            inverse = pow(matrix[rank][column], -1, PRIME)
            for i in range(rank + 1, len(matrix)):
                factor = matrix[i][column] * inverse % PRIME
                matrix[i] = [(x - factor * z) % PRIME for x, z in zip(matrix[i], matrix[rank], strict=True)]
            rank += 1
    return rank


def _inverse(matrix: list[list[float]]) -> list[list[float]]:  # approximately
    size = len(matrix)
    work = [row[:] + [float(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(work[i][k]))
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [x / work[k][k] for x in work[k]]
        for i in set(range(size)) - {k}:
            work[i] = [x - work[i][k] * z for x, z in zip(work[i], work[k], strict=True)]
    return [row[size:] for row in work]


def _check_rounded(basis: list[Vector], residual: Vector, multipliers: Vector) -> None:
    def scale(values: Any) -> Any:  # a power of 2 that brings the largest near 1
        largest = max(abs(value) for value in values)
        return Fraction(2) ** (largest.denominator.bit_length() - largest.numerator.bit_length())

    columns = [scale(column) for column in zip(*basis, strict=True)]
    scaled = [[x * c for x, c in zip(row, columns, strict=True)] for row in basis]
    rows = [scale(row) for row in scaled]
    floats = [[float(x * r) for x in row] for row, r in zip(scaled, rows, strict=True)]
    worst, norm = 0.0, 0.0  # ‖I − Z R‖₁ with its rounding, and ‖R‖₁
    for j, column in enumerate(zip(*_inverse(floats), strict=True)):
        terms = [[x * z for x, z in zip(row, column, strict=True)] for row in floats]
        rounding = [(len(basis) + 6) * EPSILON * (sum(map(abs, row)) + 1.0) for row in terms]
        worst = max(worst, sum(abs(float(i == j) - sum(row)) for i, row in enumerate(terms)) + sum(rounding))
        norm = max(norm, sum(map(abs, column)))
    _require(worst < 0.5 and norm < 1e100, "the basis cannot be shown to be independent")
    largest = max(abs(r * c) for r, c in zip(residual, columns, strict=True))
    least = min(m / r for m, r in zip(multipliers, rows, strict=True))
    change = Fraction(norm / (1.0 - worst) * (1.0 + 1e-9)) * largest
    _require(change < least, "the multipliers do not cancel as nearly as they must")


def _check_overlap(proof: dict[str, Any], rays: Rays, left: set[int], width: int) -> None:
    places, columns, multipliers = proof["rays"], proof["columns"], [Fraction(x) for x in proof["multipliers"]]
    fits = left.issuperset(places) and len(set(places)) == len(places) == len(multipliers) >= len(columns)
    _require(fits, "the multipliers are not on rows that are left, or not one a row")
    _require(all(value > 0 for value in multipliers), "a multiplier is not above 0")
    dependent = sorted(set(range(width)) - set(columns))
    _require(len(set(columns)) == len(columns) == width - len(dependent), "the columns do not fit")
    relations = [_dense(relation, width) for relation in proof["relations"]]
    owned = sorted([j for j in dependent if relation[j]] for relation in relations)
    _require(owned == [[j] for j in dependent], "the dependent columns have not a relation each")
    broken = [place for place in left for relation in relations if _dot(relation, rays[place])]
    _require(not broken, f"ray {broken[:1]} breaks a relation between columns")
    chosen = [[rays[place][j] for j in columns] for place in places]
    residual = [_dot(multipliers, column) for column in zip(*chosen, strict=True)]
    if any(residual):
        _check_rounded(chosen[: len(columns)], residual, multipliers[: len(columns)])
    _require(any(residual) or _rank(chosen[: len(columns)]) == len(columns), "the basis is not independent")


def _check_divergence(content: dict[str, Any], rays: Rays, width: int) -> None:
    given, weights = content["divergence"], [Fraction(value) for value in content["direction"]]
    aliases = [_dense(alias, width) for alias in given["aliases"]]
    _require(not any(_dot(alias, ray) for alias in aliases for ray in rays.values()), "a row breaks an alias")
    rank = _rank([rays[place] for place in given["spanning"]])
    _require(rank == len(given["spanning"]) == width - _rank(aliases) == width - len(aliases), "the rank is other")
    opposites = [[Fraction(value) for value in vector] for vector in given["opposites"]]
    _require(all(_dot(v, ray) >= 0 for v in opposites for ray in rays.values()), "a row is against an opposite")
    proof = content["proof"] or {"relations": [{str(j): 1} for j in range(width)], "columns": []}
    span = [_dense(relation, width) for relation in proof["relations"]]
    for column, one in given["signs"].items():
        multipliers = [Fraction(value) for value in one["multipliers"]]
        totals = [_dot(multipliers, [_dot(vector, rays[place]) for place in one["rays"]]) for vector in span]
        follows = totals == [one["sign"] * vector[int(column)] for vector in span] and one["sign"] in (-1, 1)
        _require(follows and min(multipliers) >= 0, f"the sign of column {column} does not follow")
    for j, claimed in enumerate(content["coefficient_status"].values()):
        other = not weights[j] or any(vector[j] * weights[j] < 0 for vector in opposites)
        status = "not estimable" if other else "diverges"
        status = {1: "+inf", -1: "-inf"}[given["signs"][str(j)]["sign"]] if str(j) in given["signs"] else status
        status = status if any(vector[j] for vector in span) else "finite"
        status = "aliased" if any(alias[j] for alias in aliases) else status
        _require(claimed == status, f"coefficient {j} is claimed to be {claimed!r}; it is {status!r}")
    _require(content["divergence_dim"] == rank - len(proof["columns"]), "another number of directions diverges")


def check(certificate: dict[str, Any], rows: list[Vector], labels: list[str], counts: list[bool]) -> str:
    """Return what was shown of a separability certificate for some data; raise ValueError where it does not hold."""
    content = certificate["content"]
    fits = len(rows) == content["n_rows"] and (content["weighted"] or all(counts))
    _require(fits, f"{len(rows)} rows, {sum(counts)} of weight; the certificate is of {content['n_rows']}")
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


def main(words: list[str]) -> int:
    """Check a certificate against a table; print the result and return how to exit."""
    options = dict(zip(words[2::2], words[3::2], strict=False))
    if len(words) < 4 or not {"--target"} <= set(options) <= {"--target", "--weight"}:
        print(__doc__)
        return 2
    with open(words[0], encoding="utf-8") as file:
        certificate = json.load(file)
    try:
        if certificate["kind"] != "separability" or certificate["verdict"] == "undecided":
            print(f"cannot be checked here: kind {certificate['kind']!r}, verdict {certificate['verdict']!r}")
            return 2
        print(check(certificate, *_read_table(words[1], options, certificate["content"])))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as refusal:
        print(f"REFUSED: {refusal}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
