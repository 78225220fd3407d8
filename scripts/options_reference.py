#!/usr/bin/env python
"""The reference of options, made from their fields: `scripts/options_reference.py > docs/options.md`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from separatrix.families.options import FAMILIES, Options, table_default

HEAD = """\
# Options

Made from `separatrix.families.options` by `scripts/options_reference.py`; the tests compare the two.

An option has the same name, values and meaning everywhere: it is a parameter of the estimator, a flag of
`separatrix fit` (`max_passes` is `--max-passes`) and an entry of `options` in a model file. A family's name is the
`model` of `sx.train` and of `separatrix fit --model`. Two defaults differ for tables, whose columns have units and
whose fits should always end in a predictor: `scaling` is "spread" and `strength` is "auto". An unfitted estimator given
as `sx.train(model=…)` is taken as it is.
"""


def render() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(part for name, kind in FAMILIES.items() for part in _family(name, kind))])


def _family(name: str, kind: type[Options]) -> Iterator[str]:
    yield f"## {kind.title}: `{name}`\n"
    yield "| option | default | |\n|---|---|---|\n" + "".join(
        f"| `{each.name}` | {_default(kind, each)} | {_cell(each.metadata['help'])} |\n" for each in fields(kind)
    )


def _default(kind: type[Options], each: object) -> str:
    default, of_tables = each.default, table_default(kind, each)  # type: ignore[attr-defined, arg-type]
    return f"`{default!r}`" if default == of_tables else f"`{default!r}`, of tables `{of_tables!r}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(render(), end="")
