"""Flags: those shared by several verbs, and those of the families' options, made from their fields.

A family's flag is named as its option. It takes text; each family reads it by the annotation of its own field, since
families may give a name different choices. A flag of another family is refused with the names of the families that have
it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import typer

from separatrix.errors import OptionError, printable
from separatrix.families.options import FAMILIES, table_default

TableName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A csv, tsv, parquet, json or jsonl file, also compressed; a folder or glob of them; - or demo:NAME.",
    ),
]
ModelFile: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that fit --out wrote.")]
Target: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column to predict; demos have a default.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Memory limit, such as 1GB (default: half of the free memory). The rest is on disk."
    ),
]


def _text(metavar: str, help_text: str, kind: Any = str) -> Any:
    return Annotated[kind | None, typer.Option(metavar=metavar, help=help_text)]


COLUMN_FLAGS = {  # which columns of a table to use, and how
    "drop": _text("COLUMN", "A column to leave out; repeat for several.", list[str]),
    "text": _text("COLUMN", "A text column whose words become features; repeat for several.", list[str]),
    "missing": _text(
        "auto|drop|impute|error",
        "Leave out rows with a missing cell, fill the cells and mark them, or refuse them; auto (default) drops where"
        " coefficients may be tested, if at least half of the rows remain, else imputes.",
    ),
    "category": _text(
        "COLUMN", "A column to read as a category, even if it holds numbers; repeat for several.", list[str]
    ),
    "number": _text("COLUMN", "A column to read as numbers; any other cell is an error.", list[str]),
    "date": _text("COLUMN", "A column to read as dates; any other cell is an error.", list[str]),
    "reference": _text("COLUMN=LEVEL", "The reference level of a category; repeat for several.", list[str]),
}
ROW_FLAGS = {  # which rows of a table to use, and how to find them
    "where": _text("PREDICATE", "Only rows for which this SQL predicate holds: age > 18."),
    "sql": _text("SELECT", "Use the result of this SQL query on the table t."),
    "separator": _text("CHARACTER", "The separator of a text file; , ; | and tabs are detected."),
}
PANEL = "Options of the model"
CLASSES = ("positive", "reference_class")  # options that name a class, as text
Owners = dict[str, tuple[Field[Any], Any]]  # the field of an option, and its type, by family


def say(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print a text; control characters in it are escaped."""
    typer.echo(printable(text), nl=nl, err=err)


def spell_flag(name: str) -> str:
    """Return the flag of an option, as the user types it."""
    owner = next((field for field, _ in _owners().get(name, {}).values()), None)
    flag = "" if owner is None else owner.metadata["flag"] or ""
    return flag.partition("/")[0] or f"--{name.replace('_', '-')}"


def with_flags(flags: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add parameters to a verb, by name with their annotations; it receives their values as keywords."""

    def add(verb: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(verb, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in flags.items()
        ]
        verb.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]  # typer reads it
        verb.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
        return verb

    return add


def family_flags() -> dict[str, Any]:
    """Return a flag for every option of the families."""
    return {name: _annotation(name, owners) for name, owners in _owners().items()}


def given_options(family: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given on the command line, in the types of the family's fields.

    Options that the family does not have are returned as text, for `table_options` to refuse.
    """
    kind = None if family == "auto" else FAMILIES[family]
    types = {} if kind is None else get_type_hints(kind)
    return {name: _read(name, value, types.get(name, Any)) for name, value in values.items() if value is not None}


def _owners() -> dict[str, Owners]:
    """Return the families of each option that has a flag."""
    owners: dict[str, Owners] = {}
    for family, kind in FAMILIES.items():
        types = get_type_hints(kind)
        for field in fields(kind):
            if field.metadata["flag"] is not None:
                owners.setdefault(field.name, {})[family] = field, types[field.name]
    return owners


def _annotation(name: str, owners: Owners) -> Any:
    kinds = list(dict.fromkeys(kind for _, kind in owners.values()))
    flag = next(iter(owners.values()))[0].metadata["flag"] or f"--{name.replace('_', '-')}"
    if kinds == [bool]:
        flag = flag if "/" in flag else f"{flag}/--no-{flag[2:]}"
        return Annotated[bool | None, typer.Option(flag, help=_help(owners), rich_help_panel=PANEL)]
    choices = list(dict.fromkeys(word for kind in kinds for word in _words(kind)))
    metavar = "|".join(sorted(choices, key=lambda word: not word.isupper())) or "TEXT"
    return Annotated[str | None, typer.Option(flag, metavar=metavar, help=_help(owners), rich_help_panel=PANEL)]


def _words(kind: Any) -> list[str]:
    """Return the words that stand for a type in a flag's usage: its choices, or the name of its values."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    if get_origin(kind) is Callable:  # which no flag can give
        return []
    if kind in {int, float}:
        return ["NUMBER"]
    return [word for part in get_args(kind) for word in _words(part)]


def _help(owners: Owners) -> str:
    """Return the help of a flag: one text, or one per family, each with its default."""
    texts: dict[str, list[str]] = {}
    for family, (field, _) in owners.items():
        default = table_default(FAMILIES[family], field)
        texts.setdefault(f"{field.metadata['help']} (default {default})", []).append(family)
    if len(texts) == 1:
        ((text, families),) = texts.items()
        return f"{text[:1].upper()}{text[1:]}, of {', '.join(families)}."
    return "; ".join(f"{', '.join(families)}: {text}" for text, families in texts.items()) + "."


def _read(name: str, value: Any, kind: Any) -> Any:
    """Return a flag's text as a number, numbers or a word, by the type of its option."""
    if not isinstance(value, str) or name in CLASSES:
        return value
    if name == "start" and value in {"zero", "random"}:
        return None if value == "zero" else value
    numbers = _numbers(value)
    if name == "start" and numbers is None:
        raise OptionError(f"--start {value!r} is not zero, random, or numbers such as 0.5,0,1")
    takes_numbers = kind is Any or bool({int, float} & {kind, *get_args(kind)})
    if numbers is None or not takes_numbers:
        return value
    return numbers if name == "start" or len(numbers) > 1 else numbers[0]


def _numbers(text: str) -> list[float] | None:
    """Return numbers separated by commas, whole ones as integers; None if the text is something else."""
    try:
        return [int(word) if word.strip().lstrip("+-").isdigit() else float(word) for word in text.split(",")]
    except ValueError:
        return None
