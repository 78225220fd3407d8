"""Arguments and options shared by several verbs."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

TableName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A csv, tsv, parquet, json or jsonl file, also packed; a folder or glob of them; - or demo:NAME.",
    ),
]
ModelFile: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that fit --out wrote.")]
Target: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column to predict; a demo knows its own.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Drop: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; may be given often.")
]
Text: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column whose words to use; may be given often.")
]
Missing: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="impute|drop|error", help="Fill in what is missing and mark it, leave such rows out, or refuse them."
    ),
]
Reference: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=LEVEL", help="The level that others are compared with; may be given often."),
]
Where: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="PREDICATE", help="Only rows for which this SQL predicate holds: age > 18."),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="How much memory to use, as 1GB; half of what is free if not said. The rest is on disk."
    ),
]
Separator: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What separates the fields of a text file; , ; | and tabs are found."),
]
Sql: TypeAlias = Annotated[
    str | None, typer.Option(metavar="SELECT", help="The table that this SQL query makes of the table t.")
]
