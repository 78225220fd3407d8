"""Model files: one JSON object in format 2, written completely or not at all, and validated when read.

The fields of `ModelFile` are the format. Floats are written with enough digits to be read back bit for bit. Reading
runs no code from the file; a ModelFileError names the place of a fault. `docs/model-format.md` describes the format,
and `schema.json` beside this file, made by `scripts/model_schema.py`, is its JSON Schema. Files of format 1 are read
too; their certificates are of an older format, which is no longer verified.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Items, Range, Shape, parse_json, plain, read, read_bytes, read_object, write, wrong
from separatrix.design.encode.encoding import AnyColumn, Encoding, Missing, Omitted
from separatrix.errors import ModelFileError
from separatrix.families.options import FAMILIES, Task
from separatrix.files import write_atomically
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import InferenceTable
from separatrix.model.adopt import as_model
from separatrix.model.predictions import DecisionRule, KernelExpansion, Label
from separatrix.model.record import Model
from separatrix.tables.formats import DATE_FORMATS, FORMATS
from separatrix.tables.table import ColumnKind

FORMAT = 2
UNSET = "0" * 64  # stands for the checksum while it is computed
OPTIONAL = {"optional": True}


@dataclass(frozen=True)
class EncodingEntry:
    """The encoding but for its columns."""

    omitted: tuple[Omitted, ...]
    missing: Missing
    sparse: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SourceColumn:
    """A column of the training table; its format is one of those that a table's reader finds."""

    name: str
    kind: ColumnKind
    format: str | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        if self.format and self.format not in DATE_FORMATS and self.format not in FORMATS:
            raise ValueError(f"format is {self.format!r}, which is no format of numbers or dates")


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelFile:
    """The content of a model file; `options`, `data` and `summary` are free in form.

    `Model.evidence` reads the certificate.

    What `fit --json` prints is a model file too: it has `decisions`, `evaluation`, `work` and `overlap` besides.
    """

    format: Literal[1, 2] = 2
    estimator: str
    options: Mapping[str, Any]
    task: Task
    target: str
    classes: Annotated[tuple[Label, ...], Items(2, distinct=True)] | None
    rule: DecisionRule
    features: tuple[str, ...] = field(init=False)
    coef: Annotated[Floats, Shape("scores", "features")]
    intercept: Annotated[Floats, Shape("scores")]
    kernel: KernelExpansion | None = field(default=None, metadata=OPTIONAL)
    columns: tuple[AnyColumn, ...]
    encoding: EncodingEntry
    data: Mapping[str, Any]
    status: str
    message: str
    covariance: Covariance | None
    no_covariance: str
    certificate: Mapping[str, Any] | None
    summary: Mapping[str, Any]
    decisions: Any = field(default=None, metadata=OPTIONAL)
    evaluation: Any = field(default=None, metadata=OPTIONAL)
    work: Any = field(default=None, metadata=OPTIONAL)
    overlap: Any = field(default=None, metadata=OPTIONAL)
    checksum: str | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", Encoding(self.columns).feature_names)

    def model(self) -> Model:
        """Return the model; a ValueError says which parts do not belong together."""
        classes, width, link = self.classes or (), len(self.features), self.rule.link
        if (self.classes is None) != (self.task == "regression"):
            raise ValueError(f"classes are {json.dumps(self.classes)}, which a {self.task} cannot have")
        if link != "none" and (not classes or (len(classes) > 2) == (link == "sigmoid")):
            raise ValueError(f"rule.link is {link!r}, which is no link of {len(classes)} classes")
        if self.kernel is not None:
            self.kernel.check(width, len(classes))
        matrix = None if self.covariance is None else self.covariance.matrix
        if matrix is not None and (len(matrix) != width + 1 or (np.diag(matrix) < 0.0).any()):
            raise ValueError(f"covariance.matrix is no covariance of {width + 1} coefficients")
        read(tuple[SourceColumn, ...], self.data.get("columns", ()), "data.columns")
        read(SourceColumn | None, self.data.get("target"), "data.target")
        if self.estimator in FAMILIES:
            given = {key: value for key, value in self.options.items() if key != "scales"}
            read_object(FAMILIES[self.estimator], given, given, "options")
        if self.certificate is not None:
            for key in ("kind", "verdict", "claim"):
                read(str, self.certificate.get(key), f"certificate.{key}")
        values = {name: getattr(self, name) for name in SHARED}
        values["coef"] = self.coef if len(self.coef) else np.empty((0, width))
        values["kernel"] = self.kernel.as_sparse() if self.kernel and self.encoding.sparse else self.kernel
        return Model(encoding=Encoding(self.columns, **vars(self.encoding)), **values)


SHARED = tuple(each.name for each in fields(Model) if each.name not in {"encoding", "fitted"})
FREE = ("options", "data", "certificate", "summary")


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
    content = read_bytes(path)
    try:
        data = parse_json(content)
        model = model_from_dict(data)  # first, since its errors name the place
        checksum = str(data.get("checksum", "")).encode()  # a file without one is accepted
        head, _, tail = content.rpartition(checksum or UNSET.encode())
        if "checksum" in data and sha256(head + UNSET.encode() + tail).hexdigest().encode() != checksum:
            raise ModelFileError("its checksum is another, so it was damaged or altered since it was written")
    except ModelFileError as problem:
        raise ModelFileError(f"{path}: {problem}; is it a model that `separatrix fit --out` wrote?") from None
    return model


def model_to_dict(model: Model) -> dict[str, Any]:
    """Return a model as JSON values; in free-form parts, infinity and NaN become "inf", "-inf" and "nan"."""
    values = {name: getattr(model, name) for name in SHARED} | {name: plain(getattr(model, name)) for name in FREE}
    encoding = EncodingEntry(*(getattr(model.encoding, each.name) for each in fields(EncodingEntry)))
    return dict(write(ModelFile(columns=model.encoding.columns, encoding=encoding, **values)))


def model_from_dict(data: Any) -> Model:
    """Return the model of a `model_to_dict` result; a ModelFileError names the place of a fault."""
    if not isinstance(data, Mapping):
        raise wrong(data, "an object")
    version = read(Annotated[int, Range(1)], data.get("format"), "format")
    if version > FORMAT:
        raise ModelFileError(
            f"its format is {version}, and this release reads formats up to {FORMAT}; install a newer separatrix"
        )
    file: ModelFile = read(ModelFile, data)
    try:
        return file.model()
    except ValueError as problem:
        raise ModelFileError(str(problem)) from None


def inference_table(summary: Mapping[str, Any]) -> InferenceTable | None:
    """Return the inference table in a model's summary, None if there is none; a ModelFileError names a fault."""
    return read(InferenceTable, summary, "summary") if "terms" in summary else None
