"""The way of a fit in pictures, one a fact that it kept: objective, gap, mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from separatrix.certificates.base import OneVsRestCertificate
from separatrix.fit.result import FitResult
from separatrix.model.train import Trained
from separatrix.reports.figures.picture import Picture, finished, new_panels
from separatrix.reports.palette import COLOURS
from separatrix.reports.plot.fit_trace import TRACE_PANELS, trace


@dataclass(frozen=True, eq=False)
class _Traced:
    """What `trace` asks of a model."""

    result_: FitResult
    tol: float | None


def trace_pictures(trained: Trained) -> Iterator[Picture]:
    """Draw the way of a fit that took more than one step."""
    result = _few_classes(trained.learned.result)
    steps = [part.trace.steps for part in result.parts] or [result.trace.steps]
    kept = [panel for panel in TRACE_PANELS if any(panel.facts[0] in each for each in steps)]
    if not kept or max(len(each["passes"]) for each in steps) < 2:
        return
    panels = [new_panels(height=2.9)[0] for _ in kept]
    trace(_Traced(result, getattr(result.certificate, "tolerance", None)), panels)
    left = len(trained.learned.result.parts) - len(result.parts)
    for panel, kind in zip(panels, kept, strict=True):
        panel.set_xlabel("passes over the rows")
        words = f"{kind.words[0].upper()}{kind.words[1:]} over passes"
        yield finished([panel], words, f"{words}." + (f" {left:,} more classes are not drawn." if left else ""))


def _few_classes(result: FitResult) -> FitResult:
    """Return a fit with as many of its classes as there are colours."""
    certificate, most = result.certificate, len(COLOURS)
    if len(result.parts) <= most or not isinstance(certificate, OneVsRestCertificate):
        return result
    fewer = replace(certificate, classes=certificate.classes[:most], parts=certificate.parts[:most])
    return replace(result, parts=result.parts[:most], certificate=fewer)
