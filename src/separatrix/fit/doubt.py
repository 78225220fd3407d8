"""A perceptron that doubts: if it does not converge, ask once whether any halfspace could be right, with proof.

The walk is another solver's, step for step. After `DOUBT_PASSES` passes (and `DOUBT_VISITS` visits) without
convergence, or at a limit reached before, the separability of the rows is judged (`fit.separability`). Every step has
two more facts: `judged`, and `infeasible`, 1 once it is known that no weights can be right on all rows. That is known

    by overlap  always: whatever is right on all rows scores every one of them 0
    by quasi    if a row that every candidate scores 0 is a mistake at 0, as tie and margin say
    otherwise   never

Cost: a pass a round of the search, some ten rounds; they count among the passes of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from separatrix.certificates.rays import make_rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import counted
from separatrix.fit.overlap import judge_signs
from separatrix.fit.stopping import AtLeast, Rule, Status, first_met
from separatrix.perceptron_rule import UpdateRule
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Solver, Step, check_needs

WORDS = {"separable": "separable", "quasi": "separable but for some that may score 0"}
DOUBT_PASSES = 10  # by then a walk has cost about what a judgement does,
DOUBT_VISITS = 2_000  # of few rows after so many visits, by which a pocket has seen good weights too


class Doubting:
    """Walks as `solver` does; `found` is the judgement, None before; `infeasible` what follows from it.

    `updates` counts those that had been made when it was found.
    """

    needs: ClassVar[Needs] = Needs()  # its solver's are checked as the walk begins

    def __init__(
        self, solver: Solver, update_rule: UpdateRule, limits: Sequence[Rule], labels: tuple[Any, Any]
    ) -> None:
        self.solver, self.update_rule, self.limits, self.labels = solver, update_rule, limits, labels
        self.found: SeparabilityCertificate | None = None
        self.infeasible = False
        self.updates = 0

    @property
    def rules(self) -> tuple[Rule, ...]:
        """When the walk ends: the limits, or as soon as no weights can be right."""
        return (self.limits[0], AtLeast("infeasible", 1, Status.INFEASIBLE), *self.limits[1:])

    @property
    def proof(self) -> SeparabilityCertificate | None:
        """What proves that no weights can be right, None where some may be."""
        return self.found if self.infeasible else None

    @property
    def words(self) -> str:
        """What was found, and when, in words; empty before."""
        if self.found is None:
            return ""
        when = f"known after {counted(self.updates, 'update')}"
        if self.infeasible and self.found.proof is not None:
            support = counted(len(self.found.proof.places), "row")
            return f"proved by {support} that cancel (verdict {self.found.verdict}), {when}"
        if self.found.verdict == "undecided":
            return f"whether a halfspace separates the rows could not be decided: {self.found.reason}"
        return f"the rows are {WORDS[self.found.verdict]}, {when}, so it may yet converge"

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:
        """Walk from a start; each step tells whether separability was judged by then."""
        check_needs(self.solver, problem)
        doubt = AtLeast("walked", self._patience(problem.design.shape[0]), Status.MAX_PASSES)
        for step in self.solver.steps(problem, start):
            if self.found is None and first_met((*self.limits, doubt), step.facts) not in {None, Status.CONVERGED}:
                self.updates = int(step.facts["updates"])
                self.found = judge_signs(problem.design, problem.y, self.labels)
                self.infeasible = self._rules_out(self.found, problem)
            judged = {"judged": self.found is not None, "infeasible": self.infeasible}
            yield replace(step, facts={**step.facts, **judged})

    def _patience(self, n: int) -> int:
        """Return how far to walk before asking: visits, or passes of the batch rule."""
        visits = max(DOUBT_PASSES * n, DOUBT_VISITS)
        return -(-visits // n) if self.update_rule.update == "batch" else visits

    def _rules_out(self, found: SeparabilityCertificate, problem: Problem) -> bool:
        """Tell whether a verdict leaves no weights that the rule would call right on every row."""
        if found.verdict != "quasi" or found.weights is None:
            return found.verdict == "overlap"
        codes = (problem.y > 0.0).astype(np.intp)
        rays = make_rays(problem.design, codes, 2)
        left = rays.signs(found.weights, np.arange(len(codes))) == 0
        return bool(self.update_rule.mistaken(np.zeros(int(left.sum())), problem.y[left]).any())
