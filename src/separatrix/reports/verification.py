"""Verified certificates as text or as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from separatrix.errors import counted
from separatrix.model.certified import CheckedCertificate
from separatrix.rendering.text import entry, wrapped

LABEL_WIDTH = 11
OUTCOMES = {True: "holds", False: "FAILS", None: "unchecked"}


def accepted(certificates: Sequence[CheckedCertificate]) -> bool:
    """Return whether every certificate is accepted."""
    return all(each.accepted for each in certificates)


def render_verifications(certificates: Sequence[CheckedCertificate], data: str) -> str:
    """Return the page: each claim, its checks, and the conclusion; `data` describes the data."""
    lines: list[str] = []
    for each in certificates:
        lines += [*wrapped(f"Claimed ({each.certificate.kind}): {each.certificate.claim}"), ""]
        for check in each.verification.checks:
            lines += entry(OUTCOMES[check.holds], f"{check.name}: {check.detail}", LABEL_WIDTH)
        lines.append("")
    return "\n".join([*lines, *wrapped(_conclusion(certificates, data))]) + "\n"


def _conclusion(certificates: Sequence[CheckedCertificate], data: str) -> str:
    checks = [check for each in certificates for check in each.verification.checks]
    failed = sum(check.holds is False for check in checks)
    if failed:
        return f"REFUSED on {data}: {failed:,} of {counted(len(checks), 'check')} failed."
    if not accepted(certificates):
        return f"NOTHING PROVED on {data}: the certificate has nothing to check."
    unchecked = sum(check.holds is None for check in checks)
    rest = f"; {unchecked:,} could not be checked" if unchecked else ""
    return f"Verified on {data}: {counted(len(checks) - unchecked, 'check')} made, all hold{rest}."


def verifications_dict(certificates: Sequence[CheckedCertificate], data: str) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    records = [
        {
            "kind": each.certificate.kind,
            "verdict": each.certificate.verdict,
            "claim": each.certificate.claim,
            "holds": each.accepted,
            "checks": list(map(asdict, each.verification.checks)),
        }
        for each in certificates
    ]
    return {"data": data, "holds": accepted(certificates), "certificates": records}
