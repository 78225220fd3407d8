"""A fit told to people and programs: a neutral summary, and its text."""

from separatrix.reports import plot
from separatrix.reports.comparison import comparison_dict, render_comparison
from separatrix.reports.summary import Outcome, Summary, TrainingData, summarise
from separatrix.reports.text import render_text
from separatrix.reports.verdict import Question, Verdict, make_verdict, verdict_dict, with_names
from separatrix.reports.verdict_text import render_verdict
from separatrix.reports.verification import Recheck, accepted, recheck, rechecks_dict, render_rechecks

__all__ = [
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
