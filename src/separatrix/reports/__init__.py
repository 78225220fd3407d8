"""A fit told to people and programs: a neutral summary, and its text."""

from separatrix.reports.summary import Outcome, Summary, TrainingData, summarise
from separatrix.reports.text import render_text

__all__ = ["Outcome", "Summary", "TrainingData", "render_text", "summarise"]
