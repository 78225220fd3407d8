"""A fit told to people and programs: a neutral summary, and its text.

Names are loaded when first used: a page of text need not wait for pictures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.reports import plot
    from separatrix.reports.comparison import Comparison, comparison_dict, render_comparison
    from separatrix.reports.summary import Outcome, Summary, TrainingData, summarise
    from separatrix.reports.text import render_text
    from separatrix.reports.verdict import Question, Verdict, make_verdict, verdict_dict, with_names
    from separatrix.reports.verdict_text import render_verdict
    from separatrix.reports.verification import Recheck, accepted, recheck, rechecks_dict, render_rechecks

__all__ = [
    "Comparison",
    "Outcome",
    "Question",
    "Recheck",
    "Summary",
    "TrainingData",
    "Verdict",
    "accepted",
    "comparison_dict",
    "make_verdict",
    "plot",
    "recheck",
    "rechecks_dict",
    "render_comparison",
    "render_rechecks",
    "render_text",
    "render_verdict",
    "summarise",
    "verdict_dict",
    "with_names",
]

# The file that each name lives in.
_HOMES = {
    "Comparison": "comparison",
    "Outcome": "summary",
    "Question": "verdict",
    "Recheck": "verification",
    "Summary": "summary",
    "TrainingData": "summary",
    "Verdict": "verdict",
    "accepted": "verification",
    "comparison_dict": "comparison",
    "make_verdict": "verdict",
    "recheck": "verification",
    "rechecks_dict": "verification",
    "render_comparison": "comparison",
    "render_rechecks": "verification",
    "render_text": "text",
    "render_verdict": "verdict_text",
    "summarise": "summary",
    "verdict_dict": "verdict",
    "with_names": "verdict",
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module("separatrix.reports.plot")
    if name in _HOMES:
        return getattr(import_module(f"separatrix.reports.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix.reports has no name {name!r}")
