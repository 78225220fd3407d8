"""Plots, drawn by matplotlib: each takes a fit and, optionally, axes to draw on, and returns a `Display`.

Colours differ for readers with colour-vision deficiency; everything that matters is labelled.
"""

from separatrix.reports.display import Display
from separatrix.reports.plot.boundary import boundary
from separatrix.reports.plot.curves import calibration, cover, losses, margin_effect, precision_recall, roc
from separatrix.reports.plot.diagnostics import diagnostics
from separatrix.reports.plot.fits import coefficients, cross_validation, path, trace

__all__ = [
    "Display",
    "boundary",
    "calibration",
    "coefficients",
    "cover",
    "cross_validation",
    "diagnostics",
    "losses",
    "margin_effect",
    "path",
    "precision_recall",
    "roc",
    "trace",
]
