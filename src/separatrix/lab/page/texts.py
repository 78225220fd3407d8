"""The views of a pane that are words: the status, the table of updates, this step's numbers, the code."""

from __future__ import annotations

from html import escape

from separatrix.lab.page.markup import code_html, paragraph, table_html
from separatrix.lab.session.state import State
from separatrix.lab.session.takeaway import python_code
from separatrix.lab.session.verdict import verdict_of
from separatrix.lab.session.views.explain import explain
from separatrix.lab.session.views.status import status_line
from separatrix.lab.session.views.update_table import update_table

__all__ = ["TEXTS", "status_html", "verdict_html"]


ROOMY = 2  # panes beside each other that have room for the words of a proof


def status_html(state: State, pane: int) -> str:
    """Return where a pane stands: its weights, its mistakes, how it ended."""
    status = status_line(state, pane)
    ended = "unfinished" if status.unfinished else "ended" if status.ended else ""
    kept = f" · {escape(status.kept)}" if status.kept else ""
    return (
        f'<p class="status {ended}"><span class="w">{escape(status.weights)}</span>{kept} · '
        f"{escape(status.unit)} {status.step:,} · {status.wrong:,} of {status.n:,} wrong</p>"
        f'<p class="state {ended}">{escape(status.words)}</p>{paragraph(status.warning, "warning")}'
    )


def verdict_html(state: State, pane: int) -> str:
    """Return whether the classes can be separated, and the proof in words."""
    verdict = verdict_of(state, pane)
    return (
        f'<details class="verdict {escape(verdict.kind)}"{" open" if len(state.panes) <= ROOMY else ""}>'
        f"<summary><strong>{escape(verdict.headline)}</strong></summary>{escape(verdict.words)}</details>"
    )


def _table(state: State, pane: int) -> str:
    record = update_table(state, pane)
    before = paragraph(f"{record.left_out:,} steps before these are left out", "quiet") if record.left_out else ""
    return f"<h3>Updates</h3>{before}{table_html(record.columns, record.rows, record.now)}"


def _explanation(state: State, pane: int) -> str:
    record = explain(state, pane)
    rows = [(each.symbol, each.value, each.meaning) for each in record.symbols]
    return (
        f'<div class="beside"><div><h3>This step</h3><p class="formula">{escape(record.formula)}</p>'
        f'<p class="formula line">{escape(record.line)}</p>{paragraph(record.words)}</div>'
        f"<div>{table_html(('symbol', 'now', 'meaning'), rows, words=True)}</div></div>"
    )


def _code(state: State, pane: int) -> str:
    return f"<h3>The same in Python</h3>{code_html(python_code(state, pane))}"


TEXTS = {"table": _table, "explain": _explanation, "code": _code}
