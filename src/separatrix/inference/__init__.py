"""What may be said of a population from a fit: estimates with less bias, and intervals."""

from separatrix.inference.firth import FirthFit, Interval, fit_firth

__all__ = ["FirthFit", "Interval", "fit_firth"]
