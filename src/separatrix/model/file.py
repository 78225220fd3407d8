"""Model files: one JSON object in format 1, written completely or not at all, and validated when read.

Floats are written with enough digits to be read back bit for bit. Reading runs no code from the file: it is parsed
within limits of size, depth and number of values, and every value is checked against the format; a ModelFileError names
the place of a fault. `docs/model-format.md` describes the format, and `schema.json` beside this file is its JSON
Schema. `kept_table` reads back the inference table in a model's summary with the same care.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from separatrix.codec import Record, parse_json
from separatrix.design.encode.encoding import Encoding
from separatrix.errors import ModelFileError
from separatrix.families.base import Link, Side
from separatrix.families.options import Task
from separatrix.files import write_atomically
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import InferenceTable, Measure, Statistic, Term
from separatrix.model.adopt import as_model
from separatrix.model.decision_rule import LINKS, TIES, DecisionRule
from separatrix.model.expansion import read_expansion
from separatrix.model.record import TASKS, Label, Model
from separatrix.tables.table import KINDS

FORMAT = 1
LARGEST_FILE = 256 * 2**20  # bytes
# Conversions from a format to the next one. Old files go through all that follow.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
UNSET = "0" * 64  # stands for the checksum while it is computed
LAST_SUM = re.compile(rb'"[0-9a-f]{64}"\s*}\s*\Z')  # a checksum at the end, even if its key was altered
ENCODING = ("omitted", "missing", "sparse", "notes")  # keys of `encoding`; the columns are at the top level
ESTIMATES = ("estimate", "standard_error", "statistic", "p_value", "lower", "upper")
RATIOS = ("ratio", "ratio_lower", "ratio_upper")
MODELS: tuple[str, ...] = get_args(get_type_hints(InferenceTable)["model"])


def save_model(model: Any, path: str | Path) -> None:
    """Write a model of a table, a fitted estimator or a model by formula to a file atomically.

    An OptionError says why it cannot be written.
    """
    values = {**model_to_dict(as_model(model)), "checksum": UNSET}
    parts = (f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in values.items())
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    head, _, tail = text.rpartition(UNSET)
    write_atomically(path, head + sha256(text.encode()).hexdigest() + tail)


def load_model(path: str | Path) -> Model:
    """Read a model from a file; a ModelFileError says what is wrong with it, and where."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:
        raise ModelFileError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > LARGEST_FILE:
        raise ModelFileError(f"{path} has more than {LARGEST_FILE // 2**20} MiB, which no model needs")
    try:
        data = parse_json(content)
        model = model_from_dict(data)  # first, since its errors name the place
        _require_checksum(content, data)
    except ModelFileError as problem:
        raise ModelFileError(f"{path}: {problem}; is it a model that `separatrix fit --out` wrote?") from None
    return model


def _require_checksum(content: bytes, data: Mapping[str, Any]) -> None:
    """Raise a ModelFileError if a file does not match its checksum; a file without one is accepted."""
    if "checksum" not in data and not LAST_SUM.search(content):
        return
    checksum = str(data.get("checksum", "")).encode(errors="replace")
    head, _, tail = content.rpartition(checksum or UNSET.encode())
    if sha256(head + UNSET.encode() + tail).hexdigest().encode() != checksum:
        raise ModelFileError("its checksum is another, so it was damaged or altered since it was written")


def model_to_dict(model: Model) -> dict[str, Any]:
    """Return a model as JSON values; in free-form parts, infinity and NaN become "inf", "-inf" and "nan"."""
    encoding = model.encoding.to_dict()
    covariance = None
    if model.covariance is not None:
        covariance = {**vars(model.covariance), "matrix": model.covariance.matrix.tolist()}
    return {
        "format": FORMAT,
        "estimator": model.estimator,
        "options": _plain(model.options),
        "task": model.task,
        "target": model.target,
        "classes": None if model.classes is None else list(model.classes),
        "rule": vars(model.rule),
        "features": list(model.encoding.feature_names),
        "coef": model.coef.tolist(),
        "intercept": model.intercept.tolist(),
        **({} if model.kernel is None else {"kernel": model.kernel.to_dict()}),
        "columns": encoding["columns"],
        "encoding": {key: encoding[key] for key in ENCODING},
        "data": _plain(model.data),
        "status": model.status,
        "message": model.message,
        "covariance": covariance,
        "no_covariance": model.no_covariance,
        "certificate": None if model.certificate is None else _plain(model.certificate),
        "summary": _plain(model.summary),
    }


def model_from_dict(data: Any) -> Model:
    """Return the model of a `model_to_dict` result; a ModelFileError names the place of a fault."""
    record = Record(_migrated(Record(data, "")), "")
    task: Task = _one_of(record, "task", TASKS)
    classes = _classes(record) if record.has("classes") else None
    if (classes is None) != (task == "regression"):
        record.refuse("classes", record.value("classes"), f"what a {task} has")
    encoding = _encoding(record)
    scores, p = 1 if classes is None or len(classes) == 2 else len(classes), len(encoding.feature_names)
    kernel = read_expansion(record, encoding, len(classes or ()))
    scores = 0 if kernel is not None else scores
    coef = record.matrix("coef", p)
    if len(coef) != scores:
        raise ModelFileError(f"coef has {len(coef)} rows of numbers, where the classes ask for {scores}")
    return Model(
        estimator=record.text("estimator"),
        task=task,
        target=record.text("target"),
        classes=classes,
        coef=coef,
        intercept=record.numbers("intercept", scores),
        rule=_rule(record.record("rule"), classes),
        encoding=encoding,
        options=record.record("options").values,
        data=_data(record.record("data")),
        certificate=_certificate(record.record("certificate")) if record.has("certificate") else None,
        summary=record.record("summary").values,
        status=record.text("status"),
        message=record.text("message"),
        covariance=_covariance(record.record("covariance"), p) if record.has("covariance") else None,
        no_covariance=record.text("no_covariance"),
        kernel=kernel,
    )


def _migrated(record: Record) -> Mapping[str, Any]:
    """Return the content of a file in the current format."""
    version = record.value("format")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        record.refuse("format", version, "the number of a format")
    if version > FORMAT:
        raise ModelFileError(
            f"its format is {version}, and this release reads formats up to {FORMAT}; install a newer separatrix"
        )
    values = dict(record.values)
    for old in range(version, FORMAT):
        values = MIGRATIONS[old](values)
    return values


def _encoding(record: Record) -> Encoding:
    encoding = Encoding.from_records(record, record.record("encoding"))
    if record.texts("features") != encoding.feature_names:
        raise ModelFileError("features are not those of the columns' encoding; the file was altered")
    return encoding


def _classes(record: Record) -> tuple[Label, ...]:
    labels = record.items("classes")
    for place, label in enumerate(labels):
        if not isinstance(label, str | int | float) or (isinstance(label, float) and not math.isfinite(label)):
            record.refuse(f"classes[{place}]", label, "text, a number or a truth value")
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ModelFileError(
            f"classes are {len(set(labels))} different labels of {len(labels)}; at least two should be"
        )
    return tuple(labels)


def _rule(record: Record, classes: tuple[Label, ...] | None) -> DecisionRule:
    link: Link = _one_of(record, "link", LINKS)
    tie: Side = _one_of(record, "tie", TIES)
    threshold = record.number("threshold")
    if not 0.0 < threshold < 1.0:
        record.refuse("threshold", threshold, "a number between 0 and 1")
    multiclass = classes is not None and len(classes) > 2
    fits = link == "none" or (classes is not None and multiclass == (link != "sigmoid"))
    if not fits:
        record.refuse("link", link, "a link for so many classes")
    return DecisionRule(link, tie, threshold)


def _covariance(record: Record, p: int) -> Covariance:
    matrix = record.matrix("matrix", p + 1)
    if matrix.shape != (p + 1, p + 1) or (np.diag(matrix) < 0.0).any():
        raise ModelFileError(f"{record.at('matrix')} is no covariance of {p + 1} coefficients")
    freedom, variance = (
        record.number(key) if record.has(key) else None for key in ("degrees_of_freedom", "residual_variance")
    )
    for key, number in (("degrees_of_freedom", freedom), ("residual_variance", variance)):
        if number is not None and number < 0.0:
            record.refuse(key, number, "a number not below 0")
    return Covariance(matrix, freedom, variance)


def _data(record: Record) -> Mapping[str, Any]:
    if record.has("columns"):
        for column in record.records("columns"):
            column.text("name")
            column.text("kind", KINDS)
            if column.has("format"):
                column.text("format")
    return record.values


def _certificate(record: Record) -> Mapping[str, Any]:
    """Return a certificate after checking its outline; `Model.evidence` reads it, and its `verify` checks it."""
    for key in ("kind", "verdict", "claim"):
        record.text(key)
    record.whole("format", least=1)
    record.record("content")
    return record.values


def _one_of(record: Record, key: str, choices: Any) -> Any:
    return record.text(key, choices)


def _plain(value: Any) -> Any:
    """Return a value as JSON: mappings, lists, strings, finite numbers, booleans and null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return str(value)


def inference_table(summary: Mapping[str, Any]) -> InferenceTable | None:
    """Return the inference table in a model's summary, None if there is none; a ModelFileError names a fault."""
    if "terms" not in summary:
        return None
    record = Record(summary, "summary")
    model: Any = record.text("model", MODELS)
    statistic: Any = record.text("statistic", get_args(Statistic))
    return InferenceTable(
        model=model,
        target=record.text("target"),
        rows=record.number("rows"),
        degrees_of_freedom=_number(record, "degrees_of_freedom"),
        level=record.number("level"),
        covariance=record.text("covariance"),
        statistic=statistic,
        terms=tuple(_term(each) for each in record.records("terms")),
        measures=tuple(_measure(each) for each in record.records("measures")),
        conventions=record.texts("conventions"),
        notes=record.texts("notes"),
    )


def _term(record: Record) -> Term:
    numbers = {name: _number(record, name) for name in (*ESTIMATES, *RATIOS)}
    return Term(record.text("name"), absent=record.text("absent"), output=record.value("output"), **numbers)


def _measure(record: Record) -> Measure:
    value, p_value = _number(record, "value"), _number(record, "p_value")
    return Measure(record.text("name"), value, p_value, record.text("detail"), record.text("absent"))


def _number(record: Record, key: str) -> float | None:
    return record.number(key) if record.has(key) else None
