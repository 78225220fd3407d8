"""The re-check of certificates as text or as JSON values: every check, and whether the claim may be believed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.errors import counted
from separatrix.reports.lines import WIDTH

WORDS = {True: "holds", False: "FAILS", None: "unchecked"}


@dataclass(frozen=True)
class Recheck:
    """A certificate and every check of it on some data."""

    certificate: Certificate
    verification: Verification

    @property
    def accepted(self) -> bool:
        """Whether something was checked and nothing fails."""
        return self.verification.holds and any(check.holds for check in self.verification.checks)

    def with_check(self, check: Check) -> Recheck:
        """Return the same with one more check."""
        return Recheck(self.certificate, Verification((*self.verification.checks, check)))


def recheck(certificate: Certificate, stated: object, X: Any, y: Any) -> Recheck:
    """Check a certificate on data, and that the verdict stated beside it is the one that its content has."""
    checks = certificate.verify(X, y).checks
    if stated != certificate.verdict:
        words = f"the file says {stated!r}, what it contains says {certificate.verdict!r}"
        checks = (Check("verdict", False, words), *checks)
    return Recheck(certificate, Verification(checks))


def accepted(rechecks: Sequence[Recheck]) -> bool:
    """Tell whether every certificate was accepted."""
    return all(each.accepted for each in rechecks)


def render_rechecks(rechecks: Sequence[Recheck], data: str) -> str:
    """Return the page: each claim, its checks, and the verdict; `data` says what they were checked on."""
    lines: list[str] = []
    for each in rechecks:
        lines += _wrapped(f"Claimed ({each.certificate.kind}): {each.certificate.claim}")
        lines += ["", *_checks(each), ""]
    lines += _wrapped(_conclusion(rechecks, data))
    return "\n".join(lines) + "\n"


def rechecks_dict(rechecks: Sequence[Recheck], data: str) -> dict[str, Any]:
    """Return what the page says as JSON values."""
    return {"data": data, "holds": accepted(rechecks), "certificates": [_recheck_dict(each) for each in rechecks]}


def _recheck_dict(each: Recheck) -> dict[str, Any]:
    checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in each.verification.checks]
    certificate = each.certificate
    head = {"kind": certificate.kind, "verdict": certificate.verdict, "claim": certificate.claim}
    return {**head, "holds": each.accepted, "checks": checks}


def _checks(each: Recheck) -> Iterator[str]:
    for check in each.verification.checks:
        yield from _wrapped(f"{check.name}: {check.detail}", f"  {WORDS[check.holds]:<11}", " " * 13)


def _conclusion(rechecks: Sequence[Recheck], data: str) -> str:
    checks = [check for each in rechecks for check in each.verification.checks]
    failed = sum(check.holds is False for check in checks)
    if failed:
        return f"REFUSED on {data}: {failed:,} of {counted(len(checks), 'check')} failed."
    if not accepted(rechecks):
        return f"NOTHING PROVED on {data}: the certificate has nothing to check."
    unchecked = sum(check.holds is None for check in checks)
    rest = f"; {unchecked:,} could not be checked" if unchecked else ""
    return f"Verified on {data}: {counted(len(checks) - unchecked, 'check')} made, all hold{rest}."


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
