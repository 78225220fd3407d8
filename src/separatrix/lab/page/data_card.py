"""Data: the notes' examples and presets, their sliders, a user's own table, and what a click on the plane does."""

from __future__ import annotations

from typing import Any

from separatrix.errors import OptionError, counted
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.parts.form import Field, Form, button, note, pick, radio, slide
from separatrix.lab.page.upload import ACCEPTED, LARGEST_UPLOAD, uploaded_table
from separatrix.lab.session import actions
from separatrix.lab.session.presets import FEWEST, PRESETS
from separatrix.lab.session.state import State
from separatrix.lab.session.table import left_out, table_data

__all__ = ["MODES", "DataCard"]

MODES = {
    "move": ("move", "drag a point; a click chooses it for the keys"),
    "plus": ("add +1", "a click adds a point of class +1"),
    "minus": ("add −1", "a click adds a point of class −1"),
    "flip": ("flip", "a click gives a point the other label"),
    "delete": ("delete", "a click deletes a point"),
}
MOST_SLID = 500  # points of a preset, by the slider
TABLE = "table"


class DataCard:
    """The form of the points."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.form = Form(self.told, "Data", "column", sizing_mode="stretch_width")
        self.waiting: Any = None  # an uploaded table whose target is not chosen yet

    def show(self, state: State) -> None:
        """Show where the points are from and what can be changed about them."""
        shown = [*self._source(state), *_sliders(state), *self._table_fields(state)]
        modes = [(name, title, hint) for name, (title, hint) in MODES.items()]
        shown.append(radio("mode", "a click on the plane", self.desk.mode, modes))
        session = self.desk.session
        shown += [
            {**button("undo", "undo", hint="Ctrl+Z", keys="Control+Z"), "disabled": not session.can_undo},
            {**button("redo", "redo", hint="Ctrl+Y", keys="Control+Y"), "disabled": not session.can_redo},
        ]
        if state.edited:
            shown.append(button("reset", "points as they were"))
        self.form.show(shown)

    def told(self, name: str, value: Any) -> None:
        """Do what a control says."""
        self.desk.attempt(lambda: self._do(name, value))

    def _do(self, name: str, value: Any) -> None:
        desk, state = self.desk, self.desk.state
        if name == "preset" and value != TABLE:
            self.waiting = None
            desk.chosen = None
            desk.change(actions.load_preset(state, str(value)))
        elif name == "preset" and state.table is not None:
            desk.change(actions.load_table(state, state.table))
        elif name in {"margin", "noise"}:
            desk.change(actions.set_drawing(state, **{name: float(value)}))
        elif name in {"n", "seed"}:
            desk.change(actions.set_drawing(state, **{name: int(value)}))
        elif name == "again":
            desk.change(actions.set_drawing(state, seed=state.origin.drawing.seed + 1))
        elif name == "mode":
            desk.mode = str(value) if value in MODES else "move"
            desk.refresh()
        elif name == "reset":
            desk.change(actions.reset_points(state))
        elif name in {"undo", "redo"}:
            (desk.undo if name == "undo" else desk.redo)()
        else:
            self._do_table(name, value)

    def _do_table(self, name: str, value: Any) -> None:
        desk, state = self.desk, self.desk.state
        if name == "file":
            self.waiting = uploaded_table(value)
            desk.refresh()
        elif name == "target":
            loaded = actions.load_table(state, table_data(self.waiting, str(value)))
            self.waiting = None
            desk.change(loaded)
        elif name in {"across", "up", "third"}:
            desk.change(actions.choose_columns(state, _columns(state, name, str(value))))
        elif name == "positive":
            origin = state.origin
            desk.change(
                actions.choose_columns(state, origin.columns, positive=str(value), components=origin.components)
            )
        elif name == "project":
            if state.table is None:
                raise OptionError("no table is open; open one to project its columns")
            desk.change(actions.choose_columns(state, state.table.names[:16], components=2))

    def _source(self, state: State) -> list[Field]:
        choices = [(name, preset.title) for name, preset in PRESETS.items()]
        ours = state.origin.kind == "preset"
        if state.table is not None:
            choices.append((TABLE, f"table: {state.table.source}"))
        words = PRESETS[state.origin.name].words if ours else _fitted(state)
        if len(state.points.drawn) < len(state.points):
            words += f"; {len(state.points.drawn):,} drawn"
        return [pick("preset", "example", state.origin.name if ours else TABLE, choices), note("words", words)]

    def _table_fields(self, state: State) -> list[Field]:
        fields: list[Field] = [
            {
                "kind": "file",
                "name": "file",
                "label": f"your own table (up to {LARGEST_UPLOAD / 1e6:.0f} MB)",
                "accept": ",".join(ACCEPTED),
                "most": LARGEST_UPLOAD,
            }
        ]
        if self.waiting is not None:
            names = [("", "choose …"), *((name, name) for name in self.waiting.names)]
            fields.append(pick("target", f"target column of {self.waiting.source}", "", names))
        if state.origin.kind == TABLE and state.table is not None:
            fields += _column_fields(state)
        return fields


def _fitted(state: State) -> str:
    """Return how many rows of a table are fitted, and which were left out."""
    assert state.table is not None
    missed = left_out(state.table, state.origin.columns)
    fitted = counted(len(state.points), "row")
    return f"{fitted} fitted; left out: {missed}" if missed else f"{fitted}, all fitted"


def _sliders(state: State) -> list[Field]:
    """Return the sliders of a preset that is drawn."""
    if state.origin.kind != "preset" or not PRESETS[state.origin.name].slides:
        return []
    preset, drawing = PRESETS[state.origin.name], state.origin.drawing
    fields = [slide("n", "points", drawing.n, (FEWEST, MOST_SLID, 1), f"{drawing.n}")]
    if preset.margin:
        fields.append(
            slide("margin", f"margin ({preset.margin})", drawing.margin, (0.0, 1.0, 0.01), f"{drawing.margin:.2f}")
        )
    if preset.noise:
        fields.append(
            slide("noise", f"noise ({preset.noise})", drawing.noise, (0.0, 1.0, 0.01), f"{drawing.noise:.2f}")
        )
    return [*fields, button("again", "draw again")]


def _column_fields(state: State) -> list[Field]:
    """Return the choice of a table's columns and of the class +1."""
    assert state.table is not None
    names = [(name, name) for name in state.table.names]
    columns = (*state.origin.columns, "", "")[:3]
    labels = [(label, label) for label in state.table.labels]
    fields = [pick("across", "across", columns[0], names)]
    if len(names) > 1:
        fields.append(pick("up", "up", columns[1], [("", "none"), *names]))
    if len(names) > 2:
        fields.append(pick("third", "third column", columns[2], [("", "none"), *names]))
        fields.append(button("project", "first two principal components"))
    return [*fields, pick("positive", f"class +1 of {state.table.target}", state.origin.positive, labels)]


def _columns(state: State, name: str, value: str) -> tuple[str, ...]:
    """Return the columns after one of them was chosen anew."""
    chosen = dict(zip(("across", "up", "third"), (*state.origin.columns, "", "")[:3], strict=True))
    chosen[name] = value
    return tuple(column for column in chosen.values() if column)
