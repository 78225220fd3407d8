"""Words that stand for a missing value: some in any column, some only where the other cells are numbers or dates.

One rule holds for every table, and for a model in every language: blanks around a word do not count, and a word for a
missing value is none, unless the word, as it is or without the blanks, is a level of the model.
"""

from __future__ import annotations

from collections.abc import Container

BLANKS = " \t\r\n\u00a0"

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
_ANYWHERE = frozenset(MISSING_ANYWHERE)
_ALL_MISSING = frozenset((*MISSING_ANYWHERE, *MISSING_NUMBERS))


def is_missing_word(cell: str) -> bool:
    """Tell whether a cell may stand for a missing number."""
    return cell.strip() in _ALL_MISSING


def clean_word(word: str, levels: Container[str] = ()) -> str | None:
    """Return a cell's word without blanks around it, None where it stands for a missing value; levels stay.

    >>> clean_word(" yes "), clean_word("NA"), clean_word(" NA ", {"NA"})
    ('yes', None, 'NA')
    """
    if word in levels:
        return word
    trimmed = word.strip(BLANKS)
    return None if trimmed in _ANYWHERE and trimmed not in levels else trimmed
