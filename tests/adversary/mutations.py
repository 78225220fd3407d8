"""Mutations of certificates and of data: what a forger would try, and what must not matter.

A forger renders verdict and claim anew; so do nearly all mutations here.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import judge
import numpy as np
from honest import Case

from separatrix.certificates.base import read_body
from separatrix.errors import SeparatrixError

Path = tuple[Any, ...]
ODD = [
    None,
    True,
    False,
    [],
    {},
    "",
    "x",
    "inf",
    "NaN",
    "1/3",
    "-1",
    0,
    -1,
    1.5,
    10**400,
    2**53,
    2**53 + 1,
    1e308,
    5e-324,
]
FACTORS = [
    0.0,
    -1.0,
    0.5,
    2.0,
    1e-6,
    1e6,
    1e-300,
    1e300,
    *(1 + s * 10.0**-k for s in (1, -1) for k in (15, 12, 9, 6, 3, 1)),
]
CHOICES: dict[str, list[Any]] = {
    "task": ["numbers", "two", "several", "rest"],
    "scheme": [None, "one-vs-rest", "pairs"],
    "loss": ["logistic", "softmax", "squared", "hinge", "squared hinge"],
    "tie": ["positive", "negative", "mistake", "correct"],
    "update": ["single", "batch"],
    "kernel": [{"name": "linear"}, {"name": "rbf", "gamma": 1.0}, {"name": "rbf", "gamma": "scale"}, {"name": "own"}],
    "dropped": [None, [0], [1], [0, 1], [2], [], [1, 1], [-1], [99]],
    "map": [{"name": "polynomial", "columns": 2, "degree": d, "products": True} for d in (1, 2, 3, 10**9)],
}


class Mutation(NamedTuple):
    """A certificate as text, data for it, and whether the statement still follows."""

    name: str
    text: str
    X: Any
    y: Any
    weights: Any
    harmless: bool = False


def rendered(document: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate with the verdict and the claim that follow from its statement, if it can be read."""
    with suppress(SeparatrixError, LookupError, TypeError, AttributeError, ArithmeticError):
        certificate = read_body(document)
        return {**document, "verdict": certificate.verdict, "claim": certificate.claim}
    return document


def restate(part: dict[str, Any], rows: judge.Rows, relative_gap: float) -> None:
    """State the objective, or the sum of squares, of the coefficients of a part, and a gap relative to it."""
    squares = "rss" in part["statement"]
    value = float(judge.value_of(judge.as_objective(part) if squares else part, rows)) * (1.0 + 1e-12)
    names = ("rss", "excess", "relative_excess") if squares else ("primal", "gap", "relative_gap")
    value *= 2 * rows.total_weight if squares else 1.0
    part["statement"].update(zip(names, (value, relative_gap * value, relative_gap), strict=True))


def places(value: Any, place: Path = ()) -> Iterator[Path]:
    """Return the place of every value within another."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*place, key)
        yield from places(part, (*place, key))


def at(document: Any, place: Path) -> Any:
    """Return the value at a place."""
    for key in place:
        document = document[key]
    return document


def changed(document: dict[str, Any], place: Path, value: Any) -> dict[str, Any]:
    """Return the certificate with another value at a place."""
    document = copy.deepcopy(document)
    at(document, place[:-1])[place[-1]] = value
    return document


class Forger:
    """Mutations of some cases, drawn by a seeded generator."""

    def __init__(self, cases: tuple[Case, ...], seed: int) -> None:
        self.cases, self.rng = cases, np.random.default_rng(seed)

    def draw(self, case: Case) -> Mutation:
        """Return a mutation of a case."""
        ways: list[tuple[Callable[[Case], Mutation], int]] = [
            (self.value, 8),
            (self.pair_of_values, 3),
            (self.scale, 1),
            (self.listing, 4),
            (self.key, 1),
            (self.splice, 3),
            (self.restated, 2),
            (self.labels, 2),
            (self.of_data, 4),
            (self.harmless, 4),
        ]
        shares = np.array([share for _, share in ways], dtype=float)
        return ways[self.rng.choice(len(ways), p=shares / shares.sum())][0](case)

    def pick(self, options: Any) -> Any:
        """Return one of some options."""
        return options[int(self.rng.integers(len(options)))]

    def made(self, case: Case, name: str, document: Any, **data: Any) -> Mutation:
        """Return a mutation with rendered words, or now and then with those of the honest certificate."""
        if isinstance(document, dict) and self.rng.random() > 0.05:
            document = rendered(document)
        given = {"X": case.X, "y": case.y, "weights": case.weights, **data}
        return Mutation(f"{case.name}: {name}", json.dumps(document), **given)

    def _place(self, document: Any) -> Path:
        """Return a place: each group of a certificate is as likely as another, and then each field."""
        group = self.pick(["data", "statement", "witness", "parts", "any"])
        found = [place for place in places(document) if place[0] == group or group == "any"]
        found = found or list(places(document))
        depth = {place[:3] for place in found}
        field = self.pick(sorted(depth, key=str))
        return tuple(self.pick([place for place in found if place[: len(field)] == field]))

    def another(self, place: Path, value: Any) -> Any:
        """Return another value of a field: near the bounds of its schema, of another type, or of another size."""
        key = next((key for key in reversed(place) if isinstance(key, str)), "")
        if key in CHOICES and self.rng.random() < 0.7:
            return self.pick(CHOICES[key])
        if self.rng.random() < 0.25:
            return self.pick(ODD)
        if isinstance(value, str):
            return self._text(value)
        return self.pick(_near(value))

    def _text(self, value: str) -> Any:
        with suppress(ValueError):
            number = Fraction(value)
            changes = [number + 1, -number, number / 2, 2 * number, number * Fraction(10**9 + 1, 10**9), Fraction(0)]
            return str(self.pick(changes))
        return self.pick([value + " ", value.upper(), value + "\u0000", value + "\x1b[2J", "zzz", 1, True, value * 2])

    def value(self, case: Case) -> Mutation:
        """Change one field."""
        place = self._place(case.certificate)
        new = self.another(place, at(case.certificate, place))
        return self.made(case, f"{place} becomes {new!r:.40}", changed(case.certificate, place, new))

    def pair_of_values(self, case: Case) -> Mutation:
        """Change two fields."""
        document, names = case.certificate, []
        for _ in range(2):
            place = self._place(document)
            new = self.another(place, at(document, place))
            document = changed(document, place, new)
            names.append(f"{place} becomes {new!r:.40}")
        return self.made(case, ", ".join(names), document)

    def scale(self, case: Case) -> Mutation:
        """Scale all numbers of a list, to where they underflow or overflow."""
        lists = [place for place in places(case.certificate) if isinstance(at(case.certificate, place), list)]
        numbers = [place for place in lists if {*map(type, at(case.certificate, place))} & {float}]
        if not numbers:
            return self.value(case)
        place, factor = (
            self.pick(numbers),
            self.pick([2.0**-540, 2.0**-535, 2.0**-1000, 2.0**500, 2.0**1000, 3.0, -1.0]),
        )
        values = [v * factor if isinstance(v, float) else v for v in at(case.certificate, place)]
        if not all(abs(v) < math.inf for v in values if isinstance(v, float)):
            values = [0.0 for _ in values]
        return self.made(case, f"{place} times {factor}", changed(case.certificate, place, values))

    def listing(self, case: Case) -> Mutation:
        """Delete, repeat, swap, reverse or append entries of a list."""
        found = [place for place in places(case.certificate) if isinstance(at(case.certificate, place), list)]
        place = self.pick(found)
        values = copy.deepcopy(at(case.certificate, place))
        way = self.pick(["delete", "repeat", "swap", "reverse", "append", "clear"])
        if values and way in {"delete", "repeat", "swap"}:
            k, other = (int(self.rng.integers(len(values))) for _ in range(2))
            if way == "delete":
                del values[k]
            elif way == "repeat":
                values.insert(k, copy.deepcopy(values[k]))
            else:
                values[k], values[other] = values[other], values[k]
        else:
            values = {"reverse": values[::-1], "clear": []}.get(way, [*values, values[0] if values else 0])
        return self.made(case, f"{way} in {place}", changed(case.certificate, place, values))

    def key(self, case: Case) -> Mutation:
        """Delete, rename or add a key, or give one twice."""
        document = copy.deepcopy(case.certificate)
        objects = [(), *(place for place in places(document) if isinstance(at(document, place), dict))]
        place = self.pick(objects)
        holder = at(document, place)
        way = self.pick(["delete", "add", "rename", "twice"])
        if not holder or way == "add":
            holder["unknown"] = 1
        elif way == "twice":
            text = json.dumps(document)
            name = json.dumps(self.pick(list(holder)))
            twice = text.replace(f"{name}: ", f"{name}: null, {name}: ", 1)
            return Mutation(f"{case.name}: {name} is given twice", twice, case.X, case.y, case.weights)
        else:
            name = self.pick(list(holder))
            value = holder.pop(name)
            if way == "rename":
                holder[name + "s"] = value
        return self.made(case, f"{way} a key of {place}", document)

    def splice(self, case: Case) -> Mutation:
        """Take a part, a group or a field from another certificate."""
        same = [other for other in self.cases if other.kind == case.kind and other is not case]
        other = self.pick(same if same and self.rng.random() < 0.7 else self.cases)
        document, source = copy.deepcopy(case.certificate), copy.deepcopy(other.certificate)
        way = self.pick(["group", "field", "part", "kind", "data field"])
        if way == "group":
            for key in self.pick(
                [("statement",), ("witness",), ("data",), ("statement", "witness"), ("parts", "data")]
            ):
                document[key] = source[key]
        elif way == "kind":
            document["kind"] = source["kind"]
        elif way == "data field":
            field = self.pick(list(document["data"]))
            document["data"][field] = source["data"].get(field)  # "dropped" may be absent
        elif way == "part" and document["parts"]:
            parts = [*document["parts"], *source["parts"]]
            document["parts"][int(self.rng.integers(len(document["parts"])))] = self.pick(parts)
        else:
            shared = sorted(set(places(document)) & set(places(source)), key=str)
            place = self.pick(shared)
            document = changed(document, place, at(source, place))
        chosen = self.pick([case, other])
        data = {"X": chosen.X, "y": chosen.y, "weights": chosen.weights}
        return self.made(case, f"{way} of {other.name}", document, **data)

    def restated(self, case: Case) -> Mutation:
        """Move coefficients, hold a column or say that it is aliased, and state the objective that follows."""
        document = copy.deepcopy(case.certificate)
        bodies = [body for body in _bodies(document) if "held" in body["statement"]]
        if len(bodies) != 1 or document["parts"]:
            return self.value(case)
        statement, witness = bodies[0]["statement"], bodies[0]["witness"]
        coef = np.array(witness["coef"])
        j, other = int(self.rng.integers(len(coef))), int(self.rng.integers(len(coef)))
        way = self.pick(["move", "move", "zero", "hold", "alias"])
        if way == "move":
            coef[j] *= 1.0 + self.pick([-1.0, 1.0]) * 10.0 ** self.rng.uniform(-12.0, 0.0)
        elif way == "zero":
            coef[j] = 0.0
        elif way == "hold":
            statement["held"] = [j]
            coef[j] += self.pick([0.0, 1.0, coef[other]])
        else:
            statement["aliased"], witness["relations"] = [j], [{str(other): self.pick(["1", "-1", "1/2"])}]
        witness["coef"] = coef.tolist()
        restate(bodies[0], judge.matched(document["data"], case.X, case.y, case.weights), self.pick([1e-9, 1e-6, 1e-3]))
        if self.rng.random() < 0.3 and "existence" in document["witness"]:
            document["witness"]["existence"] = None
        return self.made(case, f"{way} column {j} and restate", document)

    def labels(self, case: Case) -> Mutation:
        """Rename, merge, split, add, drop or reorder labels; counts follow the data or not."""
        document = copy.deepcopy(case.certificate)
        data = document["data"]
        labels = data["labels"]
        if not labels:
            data["labels"], data["task"] = self.pick([["a"], ["a", "b"]]), self.pick(["two", "rest"])
            return self.made(case, "labels of numbers", document)
        k = int(self.rng.integers(len(labels)))
        way = self.pick(["rename", "merge", "add", "drop", "reorder", "type", "list"])
        if way == "rename":
            labels[k] = self.pick(["zzz", None, 1, True, float(k), f"{labels[k]} "])
        elif way == "merge":
            labels[k] = labels[k - 1]
        elif way == "add":
            labels.insert(k, self.pick(["zzz", 99, False]))
            data["counts"].insert(k, 0)
        elif way == "drop":
            del labels[k]
        elif way == "reorder":
            data["labels"] = labels[::-1]
            data["counts"] = data["counts"][::-1] if data["task"] != "rest" else data["counts"]
        elif way == "type":
            data["labels"] = [str(label) for label in labels]
        else:
            labels[k] = [labels[k]]
        if self.rng.random() < 0.5:
            self._recount(data, case)
        if self.rng.random() < 0.3:
            data["class_weights"] = [1.0] * len(labels)
            self._recount(data, case)
        return self.made(case, f"{way} of labels, {data['labels']}", document)

    @staticmethod
    def _recount(data: dict[str, Any], case: Case) -> None:
        """Have the counts be those of the data."""
        values = case.y.tolist()
        kept = [True] * len(values) if case.weights is None else (case.weights > 0).tolist()
        own = [
            sum(k and type(v) is type(x) and v == x for v, k in zip(values, kept, strict=True)) for x in data["labels"]
        ]
        data["counts"] = [*own, sum(kept) - sum(own)] if data["task"] == "rest" else own

    def of_data(self, case: Case) -> Mutation:
        """Change the data under an untouched certificate."""
        X, y, weights = (None if each is None else each.copy() for each in (case.X, case.y, case.weights))
        n, i = len(X), int(self.rng.integers(len(X)))
        way = self.pick(
            ["cell", "cell", "label", "label", "weights", "swap columns", "swap rows", "type", "sign", "scale"]
        )
        if way == "cell":
            j = int(self.rng.integers(X.shape[1]))
            X[i, j] = self.pick([X[i, j] + 0.125, -X[i, j], X[i, j] * (1 + 2.0**-52), 0.0, 1e300, 1e-300, math.nan])
        elif way == "label":
            y[i] = self.pick(y)
        elif way == "weights":
            ones = np.ones(n)
            weights = self.pick([None, ones, -ones, 0 * ones, np.where(np.arange(n) == i, 0.0, 1.0), ones[1:]])
        elif way == "swap columns":
            X = X[:, ::-1]
        elif way == "swap rows":
            other = int(self.rng.integers(n))
            X[[i, other]] = X[[other, i]]
        elif way == "type":
            with np.errstate(over="ignore"):
                single = X.astype(np.float32)
            X, y = self.pick([(single, y), (X, y.astype(str)), (X, y.astype(object)), (X[:, :1], y)])
        elif way == "sign":
            X = -X
        else:
            X = X * self.pick([2.0, 0.5, 1e-9, 1e9])
        text = json.dumps(case.certificate)
        return Mutation(f"{case.name}: data, {way}", text, X, y, weights)

    def harmless(self, case: Case) -> Mutation:
        """Weaken a number, reorder a support, scale multipliers or a direction, or reorder the keys."""
        document = copy.deepcopy(case.certificate)
        ways = [self._shuffled, *(way for way in (self._weaker, self._reordered, self._scaled) for _ in range(2))]
        done = False
        while not done:
            way = self.pick(ways)
            done = sum(way(group) for group in _bodies(document)) == len(_bodies(document))
        return Mutation(
            f"{case.name}: harmless {way.__name__}", json.dumps(rendered(document)), case.X, case.y, case.weights, True
        )

    def _shuffled(self, group: dict[str, Any]) -> bool:
        for name in ("statement", "witness"):
            keys = list(group[name])
            self.rng.shuffle(keys)
            group[name] = {key: group[name][key] for key in keys}
        return True

    def _weaker(self, group: dict[str, Any]) -> bool:
        """Weaken an asserted number, or all radii."""
        statement = group["statement"]
        weaker = dict.fromkeys(
            ("upper", "bound", "primal", "gap", "relative_gap", "rss", "excess", "relative_excess"), 1.25
        )
        weaker |= {"lower": 0.75, "dual": 0.75, "radius": 1.0}
        names = [name for name in weaker if type(statement.get(name)) is float]
        names += ["radii"] if statement.get("radii") else []
        if not names:
            return False
        name = self.pick(names)
        statement[name] = _widened(statement[name]) if name == "radii" else statement[name] * weaker[name]
        return True

    def _reordered(self, group: dict[str, Any]) -> bool:
        """Reorder the support and the numbers of its rows together."""
        witness = group["witness"]
        lists = ("rows", "coef", "multipliers", "dual_rows", "dual_values", "subsystems", "packing")
        sizes = {key: len(witness[key]) for key in lists if isinstance(witness.get(key), list)}
        support = witness.get("rows") or witness.get("dual_rows") or witness.get("subsystems")
        if not support:
            return False
        order = self.rng.permutation(len(support))
        for key, size in sizes.items():
            of_rows = key != "coef" or ("radius" in group["statement"] and "intercept" in witness)  # of a kernel
            if size == len(support) and of_rows:
                witness[key] = [witness[key][k] for k in order]
        return True

    def _scaled(self, group: dict[str, Any]) -> bool:
        """Scale multipliers or a direction by a power of two, or by 3/2 where they are rational."""
        witness, statement = group["witness"], group["statement"]
        if "packing" in witness:
            for system in witness["subsystems"]:
                system["multipliers"] = _times(system["multipliers"], Fraction(3, 2))
            return True
        if "clashes" in witness:
            if witness["weights"] is not None:
                witness["weights"] = _times(witness["weights"], Fraction(3, 2))
            if witness["proof"] is not None:
                witness["proof"]["multipliers"] = _times(witness["proof"]["multipliers"], Fraction(3, 2))
            return True
        if "multipliers" in witness and "primal" not in statement:
            witness["multipliers"] = [2.0 * value for value in witness["multipliers"]]
            if "intercept" not in witness:
                witness["coef"] = [0.5 * value for value in witness["coef"]]
            return True
        if witness.get("separator") is not None:
            witness["separator"] = [4.0 * value for value in witness["separator"]]
            return True
        return False


def _near(value: Any) -> list[Any]:
    """Return other values than one, that are near to it or of another type."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int) and value > 2**60:
        return [0, -value, 2**53]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, 1, 2 * value + 1, 2**53, float(value), value + 0.5, str(value)]
    if isinstance(value, float):
        near = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
        return [*near, *(value * factor for factor in FACTORS), round(value), repr(value)]
    return [0, 0.0, [], False, 1.0, [1.0], "x"] if value is None else [None, [], {}, [value], 0]


def _bodies(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the innermost objects with a statement and a witness."""
    outer = document["parts"] or [document]
    nested = [
        [group["witness"]["optimality"], group["witness"]["existence"]]
        for group in outer
        if "existence" in group["witness"]
    ]
    return [body for bodies in nested for body in bodies if body is not None] or list(outer)


def _widened(radii: list[Any]) -> list[Any]:
    """Return radii times 1.25."""
    return [_widened(each) if isinstance(each, list) else 1.25 * each for each in radii]


def _times(values: list[Any], factor: Fraction) -> list[str]:
    return [str(Fraction(value) * factor) for value in values]
