"""Exceptions and warnings: each says what was wrong, the value seen, and what would work."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

Choice = TypeVar("Choice", bound=str)

MAX_LISTED = 30  # names in a message
# Control characters but for line feeds and tabs, line separators, and characters that reverse the text after them.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, so that a name in it cannot repaint a terminal.

    >>> printable("caf\u00e9 \x1b[2J")
    'café \\x1b[2J'
    """
    return UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


class SeparatrixError(Exception):
    """Base class of the errors of separatrix."""

    def __str__(self) -> str:
        return printable(super().__str__())


class DataError(SeparatrixError, ValueError):
    """The data cannot be used as they are."""


class OptionError(SeparatrixError, ValueError):
    """An option has a value that it cannot take."""


class UnknownOptionError(OptionError, TypeError):
    """There is no option of this name; the message has the name of the option that is meant."""


class NeedsError(SeparatrixError, TypeError):
    """A solver needs something that the loss, penalty or design does not offer."""


class SeparationError(SeparatrixError, ArithmeticError):
    """The maximum likelihood estimate does not exist, and the fit has on_separation="raise"."""


class OverlapError(SeparatrixError, ValueError):
    """No halfspace separates the classes, which the fit requires; `certificate` proves it."""

    def __init__(self, message: str, certificate: object = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class ClusterError(SeparatrixError, RuntimeError):
    """A cluster was lost, or its workers died repeatedly, during the work."""


class CertificateError(SeparatrixError, ValueError):
    """A certificate is malformed and cannot be verified."""


class ModelFileError(SeparatrixError, ValueError):
    """A model file is truncated, altered, of a later format, or not a model file."""


class SeparatrixWarning(UserWarning):
    """Base class of the warnings of separatrix."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ConvergenceWarning(SeparatrixWarning):
    """A fit stopped before it reached its tolerance; the message has the number reached."""


class MissingValueWarning(SeparatrixWarning):
    """Missing cells of rows to be predicted were filled."""


class SeparationWarning(SeparatrixWarning):
    """The maximum likelihood estimate does not exist, or could not be proved to exist."""


def renamed(module: str, names: Mapping[str, Any], name: str) -> Any:
    """Return the object of a renamed public name, with a warning; for `__getattr__` of a module."""
    if name not in names:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    new = names[name]
    warnings.warn(f"{name} is now called {new.__name__}; the old name will be removed", FutureWarning, stacklevel=3)
    return new


class RenamedAttribute:
    """A renamed public attribute under its old name; reading it warns."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        warnings.warn(f"{self.old} is now called {self.new}; the old name will be removed", FutureWarning, stacklevel=2)
        return getattr(instance, self.new)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, singular or plural: "1 row", "2,000 passes"."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'close'?"`` or, if nothing is close, the list of known names."""
    known = list(known)
    if close := _closest(word, known) or [name for name in known if word and name.lower().startswith(word.lower())]:
        return f"; did you mean {close[0]!r}?"
    more = f", … and {len(known) - MAX_LISTED:,} more" if len(known) > MAX_LISTED else ""
    return f"; known: {', '.join(map(repr, known[:MAX_LISTED]))}{more}" if known else ""


def _closest(word: str, known: Sequence[str]) -> list[str]:
    """Return the known name closest to a word, if any; capitals matter only between otherwise equal names."""
    if close := get_close_matches(word, known, n=1, cutoff=0.9):
        return close
    plain = {name.lower(): name for name in reversed(known)}
    return [plain[name] for name in get_close_matches(word.lower(), plain, n=1, cutoff=0.6)]


def require_choice(option: str, value: object, choices: Iterable[Choice]) -> Choice:
    """Return `value` if it is one of `choices`, else raise an OptionError that lists them."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    close = _closest(str(value), known)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise OptionError(f"{option}={value!r} is not one of {', '.join(map(repr, known))}{hint}")


def require_number(
    option: str, value: object, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> float:
    """Return `value` as a finite float within the bounds, else raise an OptionError that states them."""
    low = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    bounds = low + ("" if most is None else f" and at most {most:g}" if low else f" of at most {most:g}")
    try:
        number = float("text" if isinstance(value, str) else value)  # type: ignore[arg-type]  # float() decides
    except (TypeError, ValueError):
        raise OptionError(f"{option}={value!r} is not a number; give a finite number{bounds}") from None
    except OverflowError:  # an integer of hundreds of digits
        raise OptionError(f"{option} is larger than any float; give a finite number{bounds}") from None
    within = (
        (above is None or number > above) and (least is None or number >= least) and (most is None or number <= most)
    )
    if not (within and abs(number) < float("inf")):
        raise OptionError(f"{option}={value!r} is out of range; give a finite number{bounds}")
    return number


def require_count(option: str, value: object) -> int:
    """Return `value` as an integer of at least 1, else raise an OptionError."""
    number = require_number(option, value, least=1)
    if number != int(number):
        raise OptionError(f"{option}={value!r} is not a whole number of at least 1")
    return int(number)
