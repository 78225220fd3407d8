"""Sequential learners on rows that cannot be visited one after the other, but in partitions: epochs of each, mixed."""

from __future__ import annotations

from dataclasses import fields, replace

from separatrix.certificates.mistakes import MistakesCertificate, MixingCertificate
from separatrix.design.base import Design
from separatrix.errors import OptionError, counted
from separatrix.fit.run import Run
from separatrix.solvers.base import Solver
from separatrix.solvers.mixing import AveragedDescent, PerceptronMixing
from separatrix.solvers.perceptron import Perceptron
from separatrix.solvers.stochastic import Stochastic


def mixed(learner: Perceptron, keep: str, design: Design) -> Solver:
    """Return a perceptron for a design: itself, or mixed over its partitions if rows are not visited one by one."""
    if design.row_visits or not design.partitioned:
        return learner
    if keep == "vote":
        raise OptionError(
            "keep='vote' needs the weights after every visit, and rows in partitions are visited at the same time;"
            " use keep='average'"
        )
    if learner.rule.inverse:
        raise OptionError(
            "schedule='inverse' counts updates one after the other, and rows in partitions are visited at the same"
            " time; use schedule='constant'"
        )
    return PerceptronMixing(learner)


def averaged(descent: Stochastic, design: Design) -> Solver:
    """Return a stochastic descent for a design: itself, or averaged over its partitions."""
    return descent if design.row_visits or not design.partitioned else AveragedDescent(descent)


def certify_mixture(certificate: MistakesCertificate, walk: Run, design: Design) -> MistakesCertificate:
    """Return the certificate of a run: as it is, or of rounds that were mixed."""
    if "mixed" not in walk.facts:
        return certificate
    known = {field.name: getattr(certificate, field.name) for field in fields(certificate)}
    found = MixingCertificate(
        **known, mixed=walk.facts["mixed"], rounds=int(walk.facts["rounds"]), parts=len(design.parts)
    )
    return replace(found, history=None)


def mixture_words(certificate: MistakesCertificate) -> str:
    """Return how the run went over partitions, and what the mistake bound is of, in words; empty of one run."""
    if not isinstance(certificate, MixingCertificate):
        return ""
    rounds = f"{counted(certificate.rounds, 'round')} on {counted(certificate.parts, 'partition')}"
    return (
        f"; {rounds}, mixed by mistakes: (R/γ)² bounds the mistakes weighted by their share of each mixture,"
        f" {certificate.mixed:.4g}, and the rounds, not the {certificate.updates:,} mistakes of all partitions"
    )
