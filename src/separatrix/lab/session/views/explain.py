"""This step explained: the formula of the update, each symbol with its number, and the numbers put in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.lab.session.history import Frame, History, history_of
from separatrix.lab.session.state import State
from separatrix.lab.session.wording import short, vector
from separatrix.numerics import sigmoid

__all__ = ["Explanation", "Symbol", "error_of", "explain"]

Floats = NDArray[np.float64]
SMALL = 6  # weights up to which the numbers are put in


class Symbol(NamedTuple):
    """A symbol, what it means, and its value at this step."""

    symbol: str
    meaning: str
    value: str


class Explanation(NamedTuple):
    """The formula, the same with this step's numbers, its symbols, and a sentence on what happened."""

    formula: str
    line: str
    symbols: tuple[Symbol, ...]
    words: str


def explain(state: State, pane: int) -> Explanation:
    """Explain the step that led to where a pane stands."""
    history = history_of(state.points, state.pane(pane))
    frame = history.frame(state.step)
    formula = history.pane.kind.formula
    if history.pane.learner == "perceptron" and history.pane.update == "batch":
        formula = "w ← w + η·Σ y·x over all mistakes"
    if frame.step == 0 or frame.change is None:
        start = Symbol("w", "the weights to start from", vector(frame.coef))
        return Explanation(formula, f"w = {vector(frame.coef)}", (start,), "nothing has been learned yet")
    before = frame.coef - frame.change
    if history.pane.kind.kernel:
        return _kernel(history, frame, formula)
    symbols = [Symbol("w", "the weights before this step", vector(before))]
    symbols += _row_symbols(history, frame) if frame.row is not None else []
    if frame.rate is not None:
        symbols.append(Symbol("η", "the rate of this step", short(frame.rate)))
    if history.setting.strength and frame.rate is not None:
        symbols.append(Symbol("λ", "the strength, which shrinks w but not b", short(history.setting.strength)))
    symbols.append(Symbol("Δw", "what the step added", vector(frame.change)))
    symbols.append(Symbol("w′", "the weights after it", vector(frame.coef)))
    return Explanation(formula, _line(history, frame, before), tuple(symbols), _words(history, frame))


def _row_symbols(history: History, frame: Frame) -> list[Symbol]:
    """Return the symbols of a row that was visited: x, y, s, and the error that the learner makes of them."""
    assert frame.row is not None
    assert frame.score is not None
    setting, y = history.setting, float(history.setting.y[frame.row])
    x = setting.design.take(np.array([frame.row]))[0]
    one = ", the 1 of the intercept first" if setting.pane.fit_intercept else ""
    symbols = [
        Symbol("x", f"row {frame.row + 1}{one}", vector(x)),
        Symbol("y", "its label", short(y)),
        Symbol("s", "its score w·x before the step", short(frame.score)),
    ]
    if setting.pane.kind.loss == "logistic":
        symbols.append(Symbol("t", "the label as 0 or 1", short((y + 1.0) / 2.0)))
        symbols.append(Symbol("σ(s)", "the probability of +1", short(float(sigmoid(np.array(frame.score))))))
    name, error = error_of(setting.pane.kind.loss, frame.score, y, moved=bool(np.any(frame.change)))
    return [*symbols, Symbol(name, "the error that is corrected", short(error))]


def error_of(loss: str, score: float, y: float, *, moved: bool) -> tuple[str, float]:
    """Return the error of a row as the learner of a loss sees it, with its formula: the update is −η·error·x."""
    if loss == "squared":
        return "s − y", score - y
    if loss == "logistic":
        return "σ(s) − t", float(sigmoid(np.array(score))) - (y + 1.0) / 2.0
    name = "−y on a mistake" if loss == "perceptron" else "−y where y·s < 1"
    return name, -y if (moved if loss == "perceptron" else y * score < 1.0) else 0.0


def _line(history: History, frame: Frame, before: Floats) -> str:
    """Return the update with its numbers put in."""
    assert frame.change is not None
    if len(before) > SMALL:
        return f"w′ = w + Δw, {len(before)} weights"
    after = vector(frame.coef)
    if frame.row is None or frame.rate is None or frame.score is None:
        return f"{vector(before)} + {vector(frame.change)} = {after}"
    setting, y = history.setting, float(history.setting.y[frame.row])
    x = vector(setting.design.take(np.array([frame.row]))[0])
    if not frame.change.any():
        return f"{vector(before)} stays as it is"
    if setting.pane.kind.loss == "perceptron":
        return f"{vector(before)} + {short(frame.rate)} · ({short(y)}) · {x} = {after}"
    _, error = error_of(setting.pane.kind.loss, frame.score, y, moved=True)
    shrunk = f"(1 − {short(frame.rate)} · {short(setting.strength)}) · " if setting.strength else ""
    return f"{shrunk}{vector(before)} − {short(frame.rate)} · ({short(error)}) · {x} = {after}"


def _words(history: History, frame: Frame) -> str:
    if frame.row is None:
        mistakes = frame.facts.get("mistakes")
        if mistakes is not None:
            return f"{int(mistakes):,} rows were mistakes; each adds y·x"
        return "all rows count at once"
    assert frame.score is not None
    y = float(history.setting.y[frame.row])
    said = f"row {frame.row + 1} has score {short(frame.score)} and label {short(y)}"
    if history.setting.pane.kind.loss == "perceptron":
        return f"{said}: a mistake, so w moves towards y·x" if frame.mistake else f"{said}: right, so w stays"
    name, error = error_of(history.setting.pane.kind.loss, frame.score, y, moved=bool(np.any(frame.change)))
    return f"{said}: the error {name} is {short(error)}, and w moves by −η times the error times x"


def _kernel(history: History, frame: Frame, formula: str) -> Explanation:
    assert frame.change is not None
    moved = np.flatnonzero(frame.change)
    symbols = [
        Symbol("c", "coefficients that are not 0", f"{np.count_nonzero(frame.coef):,}"),
        Symbol("b", "the intercept after the step", short(frame.intercept)),
        Symbol("k", "the kernel", str(history.setting.kernel)),
    ]
    if frame.row is None:
        changed = ", ".join(f"c{row + 1}: {short(frame.change[row])}" for row in moved[:SMALL].tolist())
        words = f"{len(moved):,} rows changed their coefficients"
        return Explanation(formula, changed, tuple(symbols), words)
    assert frame.score is not None
    y, row = float(history.setting.y[frame.row]), frame.row + 1
    before = frame.coef[frame.row] - frame.change[frame.row]
    symbols = [
        Symbol("i", "the row visited", str(row)),
        Symbol("y", "its label", short(y)),
        Symbol("s", "its score Σ cⱼ k(x, xⱼ) + b before the step", short(frame.score)),
        Symbol("η", "the rate of this step", short(frame.rate or 0.0)),
        *symbols,
    ]
    line = f"c{row}: {short(before)} + {short(frame.rate or 0.0)} · ({short(y)}) = {short(frame.coef[frame.row])}"
    return Explanation(formula, line, tuple(symbols), f"row {row} has score {short(frame.score)}: a mistake")
