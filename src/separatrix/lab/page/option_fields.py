"""A pane's options as a form's fields, and what comes back from the form as the options' values.

Which options there are, their titles, choices and bounds are the session's to say; here they only change shape.
"""

from __future__ import annotations

from typing import Any

from separatrix.errors import OptionError
from separatrix.lab.page.parts.form import Field, check, number, pick
from separatrix.lab.session.options import LEARNERS, OPTIONS, Option, PaneOptions

__all__ = ["option_fields", "option_value"]

IN_SIGHT = ("fit_intercept", "feature_map", "kernel", "rate", "strength")  # the others are behind "more options"
LEARNER = "learner"


def option_fields(pane: PaneOptions) -> list[Field]:
    """Return the learner and those options that it has, the usual ones first."""
    choices = [(name, learner.title) for name, learner in LEARNERS.items()]
    listed = [OPTIONS[name] for name in pane.kind.options if name in IN_SIGHT and _matters(name, pane)]
    behind = [OPTIONS[name] for name in pane.kind.options if name not in IN_SIGHT and _matters(name, pane)]
    return [
        pick(LEARNER, "learner", pane.learner, choices, pane.kind.formula),
        *(_field(option, pane) for option in listed),
        *({**_field(option, pane), "more": True} for option in behind),
    ]


def option_value(name: str, raw: Any) -> Any:
    """Return the value of an option as the session takes it; what cannot be read raises an OptionError."""
    if name == LEARNER:
        return str(raw)
    option = OPTIONS[name]
    if option.kind == "flag":
        return bool(raw)
    if option.kind == "choice":
        return str(raw)
    if option.kind == "start":
        return _start(str(raw))
    words = str(raw).strip()
    if option.empty is not None and words.lower() in {"", option.empty}:
        return None
    return _whole(option, words) if option.kind == "count" else _number(option.title, words)


def _matters(name: str, pane: PaneOptions) -> bool:
    """Tell whether an option has an effect beside the others: a degree only of a polynomial."""
    mapped, kernel = pane.feature_map, pane.kernel if pane.kind.kernel else "none"
    if name == "degree":
        return "polynomial" in (mapped, kernel)
    if name == "gamma":
        return kernel != "linear"
    return name != "centre" or mapped in {"squared_distance", "paraboloid"}


def _field(option: Option, pane: PaneOptions) -> Field:
    value = getattr(pane, option.name)
    if option.kind == "flag":
        return check(option.name, option.title, value)
    if option.kind == "choice":
        return pick(option.name, option.title, value, [(each, each.replace("_", " ")) for each in option.choices])
    if option.kind == "start":
        words = value if isinstance(value, str) else ", ".join(f"{each:g}" for each in value)
        return {**_text(option, words), "hint": "zero, random, or the weights with the intercept's first: 1, 0.5, 0"}
    if option.empty is not None:
        return _text(option, "" if value is None else f"{value:g}")
    bounds = f"{option.least:g} to {option.most:g}"
    return number(option.name, option.title, value, bounds)


def _text(option: Option, value: str) -> Field:
    return {
        "kind": "text",
        "name": option.name,
        "label": option.title,
        "value": value,
        "placeholder": option.empty or "",
    }


def _number(title: str, words: str) -> float:
    try:
        return float(words)
    except ValueError:
        raise OptionError(f"{title}: {words[:40]!r} is no number") from None


def _whole(option: Option, words: str) -> int:
    value = _number(option.title, words)
    if not value.is_integer():
        raise OptionError(f"{option.title}: {words[:40]!r} is no whole number")
    return int(value)


def _start(words: str) -> str | tuple[float, ...]:
    plain = words.strip().lower()
    if plain in {"zero", "random"}:
        return plain
    return tuple(_number("start w₀", part) for part in plain.replace(",", " ").split())
