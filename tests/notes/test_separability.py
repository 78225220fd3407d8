"""M2 and M14: linear separability decided with proof either way; the cases where float programs depend on units."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import CertificateError, DataError, OptionError

POINTS = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]  # note A §4.3
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]]


def test_the_points_of_note_a_are_separable():
    certificate = sx.check_separability(POINTS, [1, 1, -1, -1, -1], fit_intercept=False)
    assert certificate.verdict == "separable"
    scores = np.array(POINTS) @ certificate.direction * [1, 1, -1, -1, -1]
    assert scores.min() > 0
    least, rows = certificate.least_margin(POINTS, [1, 1, -1, -1, -1])
    assert least == pytest.approx(scores.min() / np.linalg.norm(certificate.direction))
    assert rows.tolist() == np.flatnonzero(np.isclose(scores, scores.min())).tolist()


def test_exclusive_or_overlaps_and_says_so_at_once():
    certificate = sx.check_separability(XOR, [0, 0, 1, 1])
    assert certificate.verdict == "overlap"
    assert len(certificate.proof.places) == 4
    assert "not linearly separable, even in part (a positive combination of 4 signed rows is 0)" in certificate.claim
    assert certificate.verify(XOR, [0, 0, 1, 1])
    refused = certificate.verify(XOR, [0, 1, 1, 1])
    assert not refused


@pytest.mark.parametrize("unit", [1.0, 1e4, 1e-150, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_an_exposure_that_is_always_followed_by_the_event(unit, offset):
    rng = np.random.default_rng(0)
    exposed = np.arange(300) < 18
    other = rng.normal(size=300)
    event = exposed | (rng.random(300) < 1.0 / (1.0 + np.exp(-other)))
    X = np.column_stack([(exposed + offset) * unit, other])
    certificate = sx.check_separability(X, event)
    assert certificate.verdict == "quasi"
    assert certificate.coefficient_status["x1"] == "+inf"
    assert certificate.coefficient_status["x2"] == "finite"
    assert certificate.left_rows(X, event).tolist() == list(range(18, 300))
    assert certificate.verify(X, event)


def test_an_overlap_of_a_ten_billionth_is_one():
    X = [[0.0], [1.0 + 1e-10], [1.0], [2.0]]
    assert sx.check_separability(X, [0, 0, 1, 1]).verdict == "overlap"
    assert sx.check_separability(X, [0, 1, 0, 1]).verdict == "separable"


def test_rows_of_weight_zero_do_not_count():
    X, y, weights = [[0], [1], [2], [3]], [0, 1, 0, 1], [1, 0, 1, 1]
    certificate = sx.check_separability(X, y, sample_weight=weights)
    assert certificate.verdict == "separable"
    assert certificate.verify(X, y, weights)
    assert "the fit had sample weights; give them" in str(certificate.verify(X, y))


def test_a_refusal_names_the_row():
    certificate = sx.check_separability([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert "row 1 is on the wrong side" in str(certificate.verify([[0], [5], [2], [3]], [0, 0, 1, 1]))
    assert "row 2 has label 7" in str(certificate.verify([[0], [1], [2], [3]], [0, 0, 7, 1]))
    false = certificate.to_dict()
    false["statement"] = {**false["statement"], "coefficient_status": {"intercept": "finite", "x1": "+inf"}}
    with pytest.raises(CertificateError, match="coefficient_status"):
        sx.certificate_from_dict(false)
    overlap = sx.check_separability([[0], [1], [2], [3]], [0, 1, 0, 1]).to_dict()
    false = {**certificate.to_dict(), "verdict": overlap["verdict"], "claim": overlap["claim"]}
    with pytest.raises(CertificateError, match="verdict does not follow from the statement"):
        sx.certificate_from_dict(false)


def test_one_class_and_bad_input():
    assert "only one class" in sx.check_separability([[1], [2]], [1, 1]).claim
    assert sx.check_separability([[1], [-2]], [1, 1], fit_intercept=False).verdict == "overlap"
    with pytest.raises(DataError, match="sample_weight must have no number below 0, and some above"):
        sx.check_separability([[1], [2]], [0, 1], sample_weight=[0, 0])
    with pytest.raises(DataError, match="'x1' has NaN in row 1"):
        sx.check_separability([[1.0], [np.nan]], [0, 1])
    with pytest.raises(DataError, match="2 rows and y has 3 labels"):
        sx.check_separability([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(OptionError, match="did you mean 'pairs'"):
        sx.check_separability([[1.0], [2.0]], [0, 1], multiclass="pair")


@pytest.mark.slow
def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 20_000)), rng.integers(0, 2, 1200)
    certificate = sx.check_separability(X, y)
    assert certificate.verdict == "separable"
    assert certificate.verify(X, y)
