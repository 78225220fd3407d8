"""A fit told to people and programs: a neutral summary, and its text."""

from separatrix.reports import plot
from separatrix.reports.comparison import comparison_dict, render_comparison
from separatrix.reports.summary import Outcome, Summary, TrainingData, summarise
from separatrix.reports.text import render_text

__all__ = [
    "Outcome",
    "Summary",
    "TrainingData",
    "comparison_dict",
    "plot",
    "render_comparison",
    "render_text",
    "summarise",
]
