"""Words that stand for a missing value: some in any column, some only where the other cells are numbers or dates."""

from __future__ import annotations

__all__ = ["MISSING_ANYWHERE", "MISSING_NUMBERS", "is_missing_word"]

MISSING_ANYWHERE = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "Null", "?"),
    *("#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
MISSING_NUMBERS = (
    *("-", "--", "---", ".", "..", "...", "*", "None", "none", "NONE", "nil", "Nil", "missing", "Missing"),
    *(
        "unknown",
        "Unknown",
        "n.a.",
        "N.A.",
        "(null)",
        "\\N",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "#NUM!",
        "#NAME?",
        "#NULL!",
    ),
)
_ALL = frozenset((*MISSING_ANYWHERE, *MISSING_NUMBERS))


def is_missing_word(cell: str) -> bool:
    """Tell whether a cell may stand for a missing number."""
    return cell.strip() in _ALL
