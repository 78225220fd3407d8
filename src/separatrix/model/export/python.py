"""A model as the source of a Python function that needs only the standard library.

`predict(row)` takes a mapping from column names to cells in their types: numbers, booleans, strings, dates and
datetimes; None, NaN or a word for missing values. Blanks around a word are ignored. Text in place of a number or a date
raises an error, and so does an absent column. Names and levels are written as ASCII literals, so whatever they contain
is data, never code.
"""

from __future__ import annotations

import inspect

from separatrix.model.export.terms import ScoreTerm, column_types, terms_of
from separatrix.model.record import Model
from separatrix.tables.formats import BLANKS, MISSING_ANYWHERE, boolean_words, clean_word

TYPES = {
    "number": "int or float",
    "date": "datetime.date or datetime.datetime, in UTC if without a time zone",
    "boolean": "bool, or str as in training",
    "word": "str as in training, blanks around it ignored",
    "text": "str",
}
IMPORTS = {"date": ("datetime",), "text": ("re", "zlib")}
WORD = '''

def _clean(cell, levels=()):
    """Return a cell as a clean word, or None where it is missing."""
    return None if cell is None else clean_word(str(cell), levels)
'''
# By kind: the function that returns the contributions of a cell, None where it is missing.
CODE = {
    "number": '''

def _number(cell, weights):
    """Return a finite number times its weights."""
    return None if cell is None or not math.isfinite(cell) else [weight * float(cell) for weight in weights]
''',
    "date": '''

def _date(cell, weights, origin):
    """Return the days from an origin to a date or a datetime, times their weights."""
    if cell is None or cell != cell:
        return None
    if not isinstance(cell, datetime.datetime):
        cell = datetime.datetime(cell.year, cell.month, cell.day)
    if cell.tzinfo is not None:
        cell = cell.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    days = (cell - datetime.datetime(1970, 1, 1)).total_seconds() / 86400.0
    return [weight * (days - origin) for weight in weights]
''',
    "boolean": '''

def _boolean(cell, weights, exact, lower):
    """Return the weights of a cell's word, times 0 or 1."""
    word = _clean(cell, exact)
    value = None if word is None else exact.get(word, lower.get(word.lower()))
    return None if value is None else [weight * value for weight in weights]
''',
    "word": '''

def _word(cell, weights, unknown):
    """Return the weights of a cell's word."""
    word = _clean(cell, weights)
    return None if word is None else weights.get(word, unknown)
''',
    "text": '''

def _text(cell, weights, idf, buckets):
    """Return the weights of the words of a text, times their tf-idf, of length 1."""
    if _clean(cell) is None:
        return None
    counts = {}
    for word in re.findall(r"\\w+", _clean(cell).casefold()):
        bucket = zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets
        if bucket in idf:
            counts[bucket] = counts.get(bucket, 0) + 1
    values = {bucket: count * idf[bucket] for bucket, count in counts.items()}
    length = math.sqrt(math.fsum(value * value for value in values.values()))
    parts = [[value / length * weight for weight in weights[bucket]] for bucket, value in values.items()]
    return [math.fsum(column) for column in zip([0.0] * len(INTERCEPT), *parts)]
''',
}
TAIL = '''

def scores(row):
    """Return the linear scores of a row, or None if a cell is missing without which it has none."""
    parts = [INTERCEPT]
    for name, contributions, gap, *constants in TERMS:
        part = contributions(row[name], *constants)
        if part is None and gap is None:
            return None
        parts.append(gap if part is None else part)
    return [math.fsum(column) for column in zip(*parts)]


def predict(row):
    """Return the prediction for a row, a mapping from column names to cells."""
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
    terms, rule = terms_of(model), model.rule
    kinds = [kind for kind in CODE if any(term.kind == kind for term in terms)]
    about = f"Predicts {model.target!a} from one row of a table; needs only the standard library. Cells by column:"
    imports = sorted(["math", *(name for kind in kinds for name in IMPORTS.get(kind, ()))])
    constants = {
        "BLANKS": BLANKS,
        "MISSING": MISSING_ANYWHERE,
        "CLASSES": None if model.classes is None else list(model.classes),
        "LINK": rule.link,
        "BOUNDARY": rule.boundary,
        "TIE_IS_SECOND": rule.tie == "positive",
        "INTERCEPT": model.intercept.tolist(),
    }
    parts = [*(f"# {line}\n" for line in (about, *column_types(terms, TYPES)))]
    parts += ["\nfrom __future__ import annotations\n\n", *(f"import {name}\n" for name in imports), "\n"]
    parts += [*(f"{name} = {value!a}\n" for name, value in constants.items()), "\n\n"]
    parts += [inspect.getsource(clean_word), WORD, *(CODE[kind] for kind in kinds)]
    return "".join([*parts, "\n\nTERMS = [\n", *map(_entry, terms), "]\n", TAIL])


def _entry(term: ScoreTerm) -> str:
    """Return the entry of a term: its column, its function, the contributions of a missing cell, and constants."""
    constants: dict[str, tuple[object, ...]] = {
        "number": (term.weight,),
        "date": (term.weight, term.origin),
        "boolean": (term.weight, *boolean_words(term.words)),
        "word": (dict(term.levels), term.weight),
        "text": (dict(term.levels), dict(term.idf), term.buckets),
    }
    values = ", ".join(map(ascii, (term.gap, *constants[term.kind])))
    return f"    ({term.name!a}, _{term.kind}, {values}),\n"
