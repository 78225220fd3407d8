"""Pictures, drawn by matplotlib: each takes what a fit returned and, if given, axes to draw on, and returns a Display.

Colours are told apart by people who do not tell red from green; what matters is labelled in words.
"""

from separatrix.reports.cover_plot import cover
from separatrix.reports.diagnostic_plots import diagnostics
from separatrix.reports.display import Display
from separatrix.reports.plot.along_strengths import cross_validation, path
from separatrix.reports.plot.calibration_curve import calibration
from separatrix.reports.plot.decision_boundary import boundary
from separatrix.reports.plot.fit_trace import trace
from separatrix.reports.plot.forest import coefficients
from separatrix.reports.plot.loss_curves import losses
from separatrix.reports.plot.margin_effects import margin_effect
from separatrix.reports.plot.ranking_curves import precision_recall, roc

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
