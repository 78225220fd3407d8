"""A model as the source of a Python function that needs only the standard library.

`predict(row)` takes a mapping from column names to cells in their types: numbers, booleans, strings, dates and
datetimes; None, NaN or a word for missing values. Blanks around a word are ignored. Text in place of a number or a date
raises an error, and so does an absent column. Names and levels are written as ASCII literals, so whatever they contain
is data, never code.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from separatrix.model.export.terms import (
    BooleanTerm,
    DateTerm,
    LevelTerm,
    NumberTerm,
    ScoreTerm,
    TextTerm,
    column_types,
    terms_of,
)
from separatrix.model.record import Model
from separatrix.tables.formats import BLANKS, MISSING_ANYWHERE, boolean_words, clean_word

TYPES = {
    "number": "int or float",
    "date": "datetime.date or datetime.datetime, in UTC if without a time zone",
    "boolean": "bool, or str as in training",
    "word": "str as in training, blanks around it ignored",
    "text": "str",
}
HEAD = '''

def _number(cell):
    """Return a finite number, or None."""
    return None if cell is None or not math.isfinite(cell) else float(cell)


def _word(cell, levels=()):
    """Return a cell as a clean word, or None where it is missing."""
    return None if cell is None else clean_word(str(cell), levels)


def _truth(cell, exact, lower):
    """Return 0.0 or 1.0 by a cell's word, or None."""
    word = _word(cell, exact)
    return None if word is None else exact.get(word, lower.get(word.lower()))
'''
DATES = '''

def _days(cell):
    """Return a date or a datetime as days since 1970-01-01, or None."""
    if cell is None or cell != cell:
        return None
    if not isinstance(cell, datetime.datetime):
        cell = datetime.datetime(cell.year, cell.month, cell.day)
    if cell.tzinfo is not None:
        cell = cell.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return (cell - datetime.datetime(1970, 1, 1)).total_seconds() / 86400.0
'''
TEXTS = '''

def _tf_idf(cell, buckets, idf):
    """Return {bucket: weight} of the words of a text, of length 1."""
    counts = {}
    for word in re.findall(r"\\w+", str(cell).casefold()):
        bucket = zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets
        if bucket in idf:
            counts[bucket] = counts.get(bucket, 0) + 1
    values = {bucket: count * idf[bucket] for bucket, count in counts.items()}
    length = math.sqrt(math.fsum(value * value for value in values.values()))
    return {bucket: value / length for bucket, value in values.items()}


def _weigh(values, weights, count):
    """Return the sums of the weights of buckets, times their values, one a score."""
    return [math.fsum(value * weights[bucket][k] for bucket, value in values.items()) for k in range(count)]
'''
TAIL = '''

def predict(row):
    """Return what the model says of a row, a mapping from column names to cells."""
    values = scores(row)
    if values is None:
        return {"prediction": None, "probabilities": None, "scores": None}
    if CLASSES is None:
        return {"prediction": values[0], "probabilities": None, "scores": values}
    if len(values) == 1:
        place = int(values[0] >= BOUNDARY if TIE_IS_SECOND else values[0] > BOUNDARY)
    else:
        place = max(range(len(values)), key=lambda k: (values[k], -k))
    return {"prediction": CLASSES[place], "probabilities": probabilities(values), "scores": values}


def probabilities(values):
    """Return the probability of each class, or None where a score is no probability."""
    if LINK == "none":
        return None
    if LINK == "softmax":
        highest = max(values)
        powers = [math.exp(value - highest) for value in values]
    elif LINK == "one_vs_rest":
        powers = [sigmoid(value) for value in values]
    else:
        powers = [sigmoid(-values[0]), sigmoid(values[0])]
    total = 1.0 if LINK == "sigmoid" else math.fsum(powers)
    return {label: power / total for label, power in zip(CLASSES, powers)}


def sigmoid(value):
    """Return 1 / (1 + exp(-value)), also far out."""
    small = math.exp(-abs(value))
    return (1.0 if value >= 0.0 else small) / (1.0 + small)
'''


def to_python(model: Model) -> str:
    """Return the source of a module with `predict(row)`."""
    terms = terms_of(model)
    kinds = {term.kind for term in terms}
    about = [f"Predicts {model.target!a} from one row of a table; needs only the standard library. Cells by column:"]
    imports = ["math", *["datetime"] * ("date" in kinds), *["re", "zlib"] * ("text" in kinds)]
    parts = [*(f"# {line}\n" for line in (*about, *column_types(terms, TYPES)))]
    parts += ["\nfrom __future__ import annotations\n\n", *(f"import {name}\n" for name in sorted(imports))]
    parts += [_constants(model), "\n\n", inspect.getsource(clean_word), HEAD]
    parts += [DATES] * ("date" in kinds) + [TEXTS] * ("text" in kinds)
    return "".join([*parts, _scores(terms), TAIL])


def _constants(model: Model) -> str:
    values = {
        "BLANKS": BLANKS,
        "MISSING": MISSING_ANYWHERE,
        "CLASSES": None if model.classes is None else list(model.classes),
        "LINK": model.rule.link,
        "BOUNDARY": model.rule.boundary,
        "TIE_IS_SECOND": model.rule.tie == "positive",
        "INTERCEPT": model.intercept.tolist(),
    }
    return "\n" + "".join(f"{name} = {value!a}\n" for name, value in values.items())


def _scores(terms: Iterable[ScoreTerm]) -> str:
    """Return the function that sums the terms, or returns None for a row without scores."""
    constants, body = "", ""
    for place, term in enumerate(terms):
        constant, cell, part = _code(term, f"TERM_{place}")
        missing = "return None" if term.gap is None else f"parts.append({list(term.gap)!a})"
        constants += f"TERM_{place} = {constant!a}\n"
        body += f"    cell = {cell}\n    if cell is None:\n        {missing}\n"
        body += f"    else:\n        parts.append({part})\n"
    head = '\n\ndef scores(row):\n    """Return the linear scores of a row, or None."""\n    parts = [INTERCEPT]\n'
    return f"\n\n{constants}{head}{body}    return [math.fsum(column) for column in zip(*parts)]\n"


def _code(term: ScoreTerm, table: str) -> tuple[object, str, str]:
    """Return a term's constant, called `table`, and the expressions of its cell (None if missing) and contribution."""
    cell = f"row[{term.name!a}]"
    match term:
        case BooleanTerm():
            constant = (*boolean_words(term.words), term.weight)
            truth = f"_truth({cell}, {table}[0], {table}[1])"
            return constant, truth, f"[weight * cell for weight in {table}[2]]"
        case DateTerm():
            part = f"[weight * (cell - {term.origin!a}) for weight in {table}]"
            return term.weight, f"_days({cell})", part
        case NumberTerm():
            return term.weight, f"_number({cell})", f"[weight * cell for weight in {table}]"
        case LevelTerm():
            return dict(term.levels), f"_word({cell}, {table})", f"{table}.get(cell, {term.other!a})"
        case TextTerm():
            seen = term.encoding.seen
            words = f"_tf_idf(cell, {term.encoding.buckets!a}, {table}[0])"
            tables = dict(zip(seen, term.encoding.idf, strict=True)), dict(zip(seen, term.weights, strict=True))
            return tables, f"_word({cell})", f"_weigh({words}, {table}[1], len(INTERCEPT))"
    raise NotImplementedError(f"no Python for {term.kind}")
