"""Compare: the same points, three errors, one table; made when it is unfolded."""

from __future__ import annotations

from typing import Any

import panel as pn

from separatrix.errors import SeparatrixError
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.markup import paragraph, table_html
from separatrix.lab.page.parts import Form, Words
from separatrix.lab.page.parts.form import button
from separatrix.lab.page.parts.source import source
from separatrix.lab.session.compare import compare
from separatrix.lab.session.state import State

__all__ = ["CompareCard"]


class CompareCard:
    """The table of three learners."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.open = False
        self.form = Form(self.told, "Compare", "row", sizing_mode="stretch_width")
        self.words = Words("Perceptron, LMS and logistic side by side", "compare", sizing_mode="stretch_width")
        css = [source("layout.css")]
        parts = (self.form, self.words)
        self.view = pn.Column(*parts, sizing_mode="stretch_width", css_classes=["card"], stylesheets=css)

    def show(self, state: State) -> None:
        """Show the table of the state's points, if it is unfolded."""
        label = "compare three errors on these points"
        self.form.show([{**button("compare", label), "pressed": self.open}])
        self.words.show(_table(state) if self.open else "")

    def told(self, _name: str, _value: Any) -> None:
        """Fold or unfold it."""
        self.open = not self.open
        self.desk.attempt(self.desk.refresh)


def _table(state: State) -> str:
    try:
        record = compare(state, 0)
    except SeparatrixError as refusal:
        return paragraph(str(refusal), "quiet")
    said = [f"{learner}: {words}" for learner, words in (*record.refused, *record.messages)]
    notes = "".join(paragraph(note, "quiet") for note in said)
    return f"{paragraph(record.formula, 'formula')}{table_html(record.header, record.rows)}{notes}"
