"""Plots, drawn by matplotlib: each takes a fit and, optionally, axes to draw on and a theme, and returns a `Display`.

Colours differ for readers with colour-vision deficiency; everything that matters is labelled. Plum is what is proved.
"""

from separatrix.reports.display import Display
from separatrix.reports.plot.boundary import boundary
from separatrix.reports.plot.curves import calibration, cover, losses, margin_effect, precision_recall, roc
from separatrix.reports.plot.diagnostics import diagnostics
from separatrix.reports.plot.fits import coefficients, cross_validation, path, trace
from separatrix.reports.plot.runs import error_surface, steps, weight_space

__all__ = [
    "Display",
    "boundary",
    "calibration",
    "coefficients",
    "cover",
    "cross_validation",
    "diagnostics",
    "error_surface",
    "losses",
    "margin_effect",
    "path",
    "precision_recall",
    "roc",
    "steps",
    "trace",
    "weight_space",
]
