"""Certificates as JSON values and as pages of text: the answer to whether classes are separable, and checks on data.

Several classes give several questions: each class against the rest, or each pair. Each question has its certificate,
all checks of it on the data, and the least margin of its direction with the rows that attain it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate, PartsCertificate, Verification
from separatrix.certificates.overlap import CurvatureProof
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import counted
from separatrix.model.certified import CheckedCertificate
from separatrix.rendering.sheet import Sheet, Tone

NAMES_SHOWN = 8  # of columns, rows or classes; the rest are counted
MLE = "the maximum likelihood estimate of a logistic regression"
STATUSES = {
    "+inf": ("→ +∞", "grows without bound"),
    "-inf": ("→ −∞", "falls without bound"),
    "not estimable": ("not estimable", "diverges, with a sign that depends on the direction"),
    "diverges": ("diverges", "its sign was not computed"),
    "aliased": ("aliased", "perfectly collinear with other columns; not identified"),
    "finite": ("finite", "has a limit"),
}


@dataclass(frozen=True)
class Question:
    """One question of separability: the classes, the certificate, its checks, and the margin if separated.

    Of `rows`, `left` cannot be separated; `pinned` are the rows of least margin, counted from 0.
    """

    title: str
    certificate: SeparabilityCertificate
    verification: Verification
    rows: int
    left: int
    margin: float | None
    pinned: tuple[int, ...]


@dataclass(frozen=True)
class Verdict:
    """All questions about a table: the whole certificate, and one question per part."""

    source: str
    target: str
    classes: tuple[tuple[Any, int], ...]
    columns: int
    intercept: bool
    certificate: Certificate
    questions: tuple[Question, ...]

    @property
    def decided(self) -> bool:
        """Whether every question has an answer whose proof holds."""
        return all(each.verification.holds for each in self.questions)


def make_verdict(source: str, target: str, certificate: Certificate, X: Floats, y: Any) -> Verdict:
    """Return the record of a certificate, verified on its data."""
    labels, counts = np.unique(y, return_counts=True)
    questions = tuple(_questions(certificate, X, np.asarray(y)))
    return Verdict(
        source=source,
        target=target,
        classes=tuple(zip(labels.tolist(), counts.tolist(), strict=True)),
        columns=X.shape[1],
        intercept=certificate.data.intercept,
        certificate=certificate,
        questions=questions,
    )


def with_names(certificate: Certificate, names: tuple[str, ...]) -> Certificate:
    """Return the certificate with names for its columns."""
    return certificate.about(replace(certificate.data, columns=names))


def verdict_dict(verdict: Verdict) -> dict[str, Any]:
    """Return the record as JSON values, with the whole certificate."""
    questions = [
        {
            "title": each.title,
            "verdict": each.certificate.verdict,
            "claim": each.certificate.claim,
            "margin": each.margin,
            "pinned": list(each.pinned),
            "rows": each.rows,
            "left": each.left,
            "coefficients": each.certificate.coefficient_status,
            "directions": each.certificate.divergence_dim,
            "verified": each.verification.holds,
            "checks": list(map(asdict, each.verification.checks)),
        }
        for each in verdict.questions
    ]
    return {
        "source": verdict.source,
        "target": verdict.target,
        "classes": [{"label": label, "rows": rows} for label, rows in verdict.classes],
        "columns": verdict.columns,
        "intercept": verdict.intercept,
        "verdict": verdict.certificate.verdict,
        "decided": verdict.decided,
        "questions": questions,
        "certificate": verdict.certificate.to_dict(),
    }


def _questions(certificate: Certificate, X: Floats, y: NDArray[Any]) -> Iterator[Question]:
    data, everyone = certificate.data, np.arange(len(y))
    if isinstance(certificate, SeparabilityCertificate):
        yield _question(" against ".join(map(str, data.labels[::-1])), certificate, X, y, everyone)
        return
    assert isinstance(certificate, PartsCertificate)
    for part in certificate.parts:
        assert isinstance(part, SeparabilityCertificate)
        if data.scheme == "one-vs-rest":
            yield _question(f"{part.data.labels[0]} against the rest", part, X, y, everyone)
        else:
            first, second = part.data.labels
            yield _question(f"{second} against {first}", part, X, y, np.flatnonzero((y == first) | (y == second)))


def _question(title: str, certificate: SeparabilityCertificate, X: Floats, y: NDArray[Any], own: Indices) -> Question:
    rows = (X, y) if len(own) == len(y) else (X[own], y[own])
    verification = certificate.verify(*rows)
    margin, pinned, left = None, (), 0
    if verification.holds:
        left = len(certificate.left_rows(*rows))
        if certificate.weights is not None:
            margin, nearest = certificate.least_margin(*rows)
            pinned = tuple(own[nearest].tolist())
    return Question(title, certificate, verification, len(own), left, margin, pinned)


def verdict_page(
    verdict: Verdict, notes: Sequence[str] = (), columns_of: Mapping[str, str] | None = None
) -> tuple[Sheet, ...]:
    """Return the page: for each question the verdict, the coefficients and the proof; then notes and advice.

    `columns_of` names the column of the table that each feature was encoded from, if that is another name.
    """
    classes = _some([f"{label} in {counted(rows, 'row')}" for label, rows in verdict.classes])
    columns = counted(verdict.columns, "column") + (" and an intercept" if verdict.intercept else ", no intercept")
    several = len(verdict.questions) > 1
    advice = tuple(_advice(verdict, {question.certificate.verdict for question in verdict.questions}, columns_of or {}))
    counting = ["rows are counted from 0"] if any(question.pinned for question in verdict.questions) else []
    return (
        Sheet(f"{verdict.target} of {verdict.source}: {classes}; {columns}"),
        *(_answer(question, len(verdict.classes), several=several) for question in verdict.questions),
        *([Sheet("Notes", lines=(*notes, *counting))] if notes or counting else []),
        Sheet("Next", lines=advice),
    )


def _answer(question: Question, classes: int, *, several: bool) -> Sheet:
    head = f"{question.title}: " if several else ""
    tone: Tone = "proved" if question.verification.holds else "open"
    return Sheet(f"{head}{_sentence(question)}", entries=tuple(_entries(question, classes)), tone=tone)


def _entries(question: Question, classes: int) -> Iterator[tuple[str, str]]:
    certificate, statuses = question.certificate, question.certificate.coefficient_status
    if question.margin is not None:
        rows = f"{'row' if len(question.pinned) == 1 else 'rows'} {_some(list(map(str, question.pinned)))}"
        among = "" if certificate.verdict == "separable" else " of the rows separated"
        yield "margin", f"{question.margin:.4g}, the least{among} along the direction found: {rows}"
    if certificate.divergence_dim:
        yield "directions", f"{counted(certificate.divergence_dim, 'independent direction')} of divergence"
    for status, (word, meaning) in STATUSES.items():
        names = [name for name, own in statuses.items() if own == status]
        if names:
            yield word, f"{len(names):,} ({meaning}): {_some(names)}"
    yield "proof", _proof(question)
    yield "verified", _verified(question)
    if classes > 2 and len(certificate.classes) > 2:
        yield "scores", f"those of each class relative to {certificate.classes[0]}"


def _sentence(question: Question) -> str:
    """Return the verdict in one or two sentences."""
    certificate = question.certificate
    several = len(certificate.classes) > 2
    if certificate.verdict == "separable":
        what = "scores put every row's own class ahead" if several else "a hyperplane has every row on its own side"
        return f"Completely separated: {what}, so {MLE} does not exist."
    if certificate.verdict == "quasi":
        separated = f"{question.rows - question.left:,} of {counted(question.rows, 'row')} are perfectly separated"
        bound = question.certificate.n_overlap < question.certificate.n_left
        separated = f"At least {separated}, but not all." if bound else f"{separated}, {question.left:,} are not."
        return f"Quasi-completely separated: {MLE} does not exist. {_run_off(certificate)} {separated}"
    if certificate.verdict == "overlap":
        what = "no scores put every row's own class ahead" if several else "no hyperplane separates them"
        aliased = [name for name, status in certificate.coefficient_status.items() if status == "aliased"]
        unique = " and is unique: the columns are linearly independent"
        if aliased:
            unique = f", but is not unique: the columns {_some(aliased)} are collinear"
        return f"The classes overlap: {what}, not even in part; {MLE} exists{unique}."
    return f"Undecided: {certificate.reason}."


def _run_off(certificate: SeparabilityCertificate) -> str:
    statuses = certificate.coefficient_status
    off = [f"{name} {STATUSES[status][0]}" for name, status in statuses.items() if status in {"+inf", "-inf"}]
    finite = sum(status == "finite" for status in statuses.values())
    if not statuses:
        return "Which coefficients diverge was not computed."
    if not off:
        return "Coefficients diverge, none of them in one direction only."
    rest = "the others stay finite" if finite == len(statuses) - len(off) else f"{finite:,} others stay finite"
    return f"These coefficients diverge: {_some(off)}; {rest}."


def _proof(question: Question) -> str:
    certificate = question.certificate
    if certificate.undecided:
        return "none"
    pieces = []
    if certificate.weights is not None:
        pieces.append(f"a direction of {counted(len(certificate.weights), 'number')}")
    if isinstance(certificate.proof, CurvatureProof):
        pieces.append(f"{counted(certificate.proof.coef.size, 'coefficient')} with the curvature of the likelihood")
    elif certificate.proof is not None or certificate.clashes:
        kind = "row" if len(certificate.classes) <= 2 else "row-and-class pair"
        cancelling = certificate.n_overlap if certificate.proof is None else len(certificate.proof.places)
        pieces.append(f"a positive combination of {counted(cancelling, f'signed {kind}')} that is 0")
    size = len(certificate.to_json().encode())
    return f"{' and '.join(pieces)}; {size:,} bytes of JSON, for {counted(question.rows, 'row')}"


def _verified(question: Question) -> str:
    checks = question.verification.checks
    failed = [check for check in checks if check.holds is False]
    if failed:
        return f"NO, which is a fault of separatrix: {failed[0]}"
    checked = sum(check.holds is True for check in checks)
    if not checked:
        return "nothing, as there is nothing to check"
    return f"on the data, without the search that found it: {counted(checked, 'check')} made, all hold"


def _advice(verdict: Verdict, verdicts: set[str], columns_of: Mapping[str, str]) -> Iterator[str]:
    if verdicts & {"separable", "quasi"}:
        yield "LogisticRegression(strength=…), a penalty above 0, has a finite optimum whatever the data"
        if len(verdict.classes) == 2:
            yield 'LogisticRegression(on_separation="firth") gives finite, bias-reduced estimates with intervals'
    if "quasi" in verdicts:
        if len(off := {columns_of.get(name, name) for name in _diverging(verdict)}) == 1:
            yield f"--drop {off.pop()} fits without the column, if it is not of interest"
        if len(verdict.questions[0].certificate.classes) > 2:
            yield "--multiclass pairs says which class is separated from which"
    if "separable" in verdicts:
        yield "MaxMarginClassifier gives the separating hyperplane of widest margin; few rows may decide it"
    if "overlap" in verdicts:
        yield "LogisticRegression() without a penalty is safe here; LinearSVM and ZeroOneClassifier allow mistakes"
        yield 'Perceptron never stops by itself; Perceptron(on_overlap="stop") ends with this proof'
        if any("aliased" in each.certificate.coefficient_status.values() for each in verdict.questions):
            yield "dropping collinear columns makes the estimate unique"
    if "undecided" in verdicts:
        yield "a penalty above 0 settles existence; fewer columns, or rounder numbers, may settle the verdict"


def _diverging(verdict: Verdict) -> set[str]:
    """Return the columns of two classes whose coefficients diverge in a known direction."""
    certificates = [each.certificate for each in verdict.questions if len(each.certificate.classes) == 2]
    statuses = [status for certificate in certificates for status in certificate.coefficient_status.items()]
    return {name for name, status in statuses if status in {"+inf", "-inf"} and name != "intercept"}


def _some(names: Sequence[str]) -> str:
    """Return the first few names, and the number of the others."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")


def exit_code(certificates: Sequence[CheckedCertificate]) -> int:
    """Return 0 if every certificate is proved, 1 if one is not, 2 if one claims nothing or is beyond limits."""
    outcomes = {each.verification.outcome for each in certificates}
    return 1 if "not proved" in outcomes else int(outcomes != {"proved"}) * 2


def verification_page(
    certificates: Sequence[CheckedCertificate], data: str, notes: Sequence[str] = ()
) -> tuple[Sheet, ...]:
    """Return the page: the conclusion, then each claim with its checks; `data` describes the data."""
    tones: tuple[Tone, ...] = ("proved", "failed", "open")
    conclusion = Sheet(_conclusion(certificates, data), tone=tones[exit_code(certificates)])
    return (conclusion, *map(_checked, certificates), *([Sheet("Notes", lines=tuple(notes))] if notes else []))


def _checked(each: CheckedCertificate) -> Sheet:
    checks = [
        ("holds" if check.holds else "FAILS", f"{check.name}: {check.detail}") for check in each.verification.checks
    ]
    unchecked = [("unchecked", each.verification.limit)] if each.verification.limit else []
    return Sheet(f"Claim ({each.certificate.kind}): {each.certificate.claim}", entries=(*checks, *unchecked))


def _conclusion(certificates: Sequence[CheckedCertificate], data: str) -> str:
    checks = [check for each in certificates for check in each.verification.checks]
    made, failed = counted(len(checks), "check"), sum(not check.holds for check in checks)
    conclusions = {
        0: f"Proved on {data}: {made} made, all hold.",
        1: f"NOT PROVED on {data}: {failed:,} of {made} failed.",
        2: f"NOTHING PROVED on {data}: nothing is claimed, or the proof is beyond the limits of this program.",
    }
    return conclusions[exit_code(certificates)]


def verifications_dict(certificates: Sequence[CheckedCertificate], data: str) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    records = [
        {
            "kind": each.certificate.kind,
            "verdict": each.certificate.verdict,
            "claim": each.certificate.claim,
            "outcome": each.verification.outcome,
            "holds": each.verification.holds,
            "checks": list(map(asdict, each.verification.checks)),
        }
        for each in certificates
    ]
    return {"data": data, "holds": exit_code(certificates) == 0, "certificates": records}
