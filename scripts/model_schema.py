#!/usr/bin/env python
"""The JSON Schema of model files, made from their dataclasses by their annotations:
`scripts/model_schema.py > src/separatrix/model/schema.json`."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from separatrix.codec import Items, Range, Shape, Tag, key_of
from separatrix.model.file import ModelFile

SCALARS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    Fraction: {"type": ["string", "number"]},
    Any: {},
}
BOUNDS = {"minimum": "least", "maximum": "most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}


def schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an annotated type; those of dataclasses are added to `definitions`."""
    marks = {type(mark): mark for mark in getattr(kind, "__metadata__", ())}
    kind = get_args(kind)[0] if marks else kind
    if Shape in marks:
        result: dict[str, Any] = {"type": "number"} | _bounds(marks.get(Range, Range()))
        for _ in marks[Shape]:
            result = {"type": "array", "items": result}
        return result
    if is_dataclass(kind):
        return _reference(kind, definitions)
    if get_origin(kind) is None:
        return SCALARS[kind] | _bounds(marks.get(Range, Range()))
    return _compound(kind, marks, definitions)


def _compound(kind: Any, marks: dict[Any, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
    if origin in {Union, UnionType}:
        return {"oneOf" if Tag in marks else "anyOf": [schema_of(part, definitions) for part in parts]}
    if origin is not tuple:
        return {"type": "object", "additionalProperties": schema_of(parts[1], definitions)}
    items = marks.get(Items, Items())
    result: dict[str, Any] = {"type": "array"}
    if parts[-1] is Ellipsis:
        result |= {"items": schema_of(parts[0], definitions)} | ({"minItems": items.least} if items.least else {})
    else:
        entries = [schema_of(part, definitions) for part in parts]
        result |= {"prefixItems": entries, "items": False, "minItems": len(parts)}
    return result | ({"uniqueItems": True} if items.distinct else {})


def _bounds(bounds: Range) -> dict[str, float]:
    pairs = {word: getattr(bounds, name) for word, name in BOUNDS.items()}
    return {word: bound for word, bound in pairs.items() if math.isfinite(bound)}


def _reference(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # for types within themselves
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "description": " ".join(str(kind.__doc__).split("\n\n")[0].split()),
        "type": "object",
        "required": [key_of(each) for each in fields(kind) if not each.metadata.get("optional")],
        "properties": {key_of(each): schema_of(hints[each.name], definitions) for each in fields(kind)},
        "additionalProperties": False,
    }


def render() -> str:
    """Return the schema as text."""
    definitions: dict[str, Any] = {}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "separatrix model, format 2"}
    schema = {**head, **_object(ModelFile, definitions), "$defs": dict(sorted(definitions.items()))}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(render(), end="")
