"""Notes A, C and D: the linear program of halfspaces (M11), the fewest mistakes (M12), the widest margin (M13)."""

import numpy as np
import pytest
from data import needs_data, reference, references, table
from scipy.optimize import linprog

import separatrix as sx
from separatrix.errors import DataError, OverlapError

NOTE_A_X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
NOTE_A_Y = np.array([1, 1, -1, -1, -1])
OVERLAP = np.array([[2, 1], [4, 3], [3, 5], [1, 3], [5, 6]], dtype=float)
OVERLAP_Y = np.array([1, 1, 1, -1, -1])


@pytest.mark.parametrize("intercept", [False, True])
def test_m11_every_constraint_holds(intercept):
    model = sx.HalfspaceLP(fit_intercept=intercept).fit(NOTE_A_X, NOTE_A_Y)
    assert (NOTE_A_Y * model.decision_function(NOTE_A_X)).min() >= 1.0
    assert model.result_.status.reached_goal
    assert model.certificate_.verify(NOTE_A_X, NOTE_A_Y)


@pytest.mark.parametrize("intercept", [False, True])
def test_m11_infeasible_with_proof(intercept):
    X, y = (OVERLAP, OVERLAP_Y) if intercept else (np.vstack([NOTE_A_X, -NOTE_A_X[:1]]), [*NOTE_A_Y, 1])
    with pytest.raises(OverlapError, match="no halfspace separates -1 and 1") as refusal:
        sx.HalfspaceLP(fit_intercept=intercept).fit(X, y)
    assert refusal.value.certificate.verdict in {"overlap", "quasi"}
    assert refusal.value.certificate.verify(X, y)


def feasible(X, y):
    """Tell what HiGHS says of yᵢ(w·xᵢ + b) ≥ 1, in standardised columns."""
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return linprog(**sx.halfspace_program(Z, y)._asdict(), method="highs").status == 0


@pytest.mark.parametrize("intercept", [False, True])
def test_m11_the_program_as_matrices(intercept):
    program = sx.halfspace_program(NOTE_A_X, NOTE_A_Y, fit_intercept=intercept)
    rows = sx.augment(NOTE_A_X) if intercept else NOTE_A_X
    assert (-program.A_ub).tolist() == sx.reflect(rows, NOTE_A_Y).tolist()
    assert (-program.b_ub).tolist() == [1.0] * 5
    solution = linprog(**program._asdict())
    assert solution.status == 0
    assert (NOTE_A_Y * (rows @ solution.x)).min() >= 1.0 - 1e-9
    assert linprog(**sx.halfspace_program(OVERLAP, OVERLAP_Y)._asdict()).status == 2  # infeasible
    assert sx.halfspace_program(OVERLAP, OVERLAP_Y).c.tolist() == [0.0] * 3


def test_m11_a_program_needs_two_classes_and_a_label_per_row():
    with pytest.raises(DataError, match="X has 5 rows and y has 4 labels"):
        sx.halfspace_program(NOTE_A_X, NOTE_A_Y[:4])
    with pytest.raises(DataError, match="y has 3 classes"):
        sx.halfspace_program(NOTE_A_X, [0, 1, 2, 0, 1])


@needs_data
@pytest.mark.parametrize("name", references("separation"))
def test_m11_highs_agrees_on_every_data_set(name):
    _, X, labels, _ = table("separation", name)
    y = np.where(labels == np.unique(labels)[1], 1.0, -1.0)
    if reference("separation", name)["verdict"] == "complete":
        model = sx.HalfspaceLP().fit(X, y)
        assert (y * model.decision_function(X)).min() > 0.0
        assert model.certificate_.verify(X, y)
        assert feasible(X, y)
    else:
        with pytest.raises(OverlapError, match="no halfspace separates") as refusal:
            sx.HalfspaceLP().fit(X, y)
        assert refusal.value.certificate.verify(X, y)
        assert not feasible(X, y)


def test_m12_one_mistake_is_the_fewest():
    model = sx.ZeroOneClassifier().fit(OVERLAP, OVERLAP_Y)
    assert int((model.predict(OVERLAP) != OVERLAP_Y).sum()) == 1
    certificate = model.certificate_
    assert (certificate.lower, certificate.upper, certificate.verdict) == (1, 1, "minimum")
    assert certificate.verify(OVERLAP, OVERLAP_Y)
    assert model.result_.status == "optimal"


def test_m12_which_point_to_drop():
    X, y = sx.load_demo("five-points-overlap")
    found = sx.fewest_removals(X, y)
    assert len(found.rows) == found.lower == 1
    assert found.exact
    kept = np.setdiff1d(np.arange(5), found.rows)
    assert sx.check_separability(X[kept], y[kept]).verdict == "separable"
    assert found.certificate.verify(X, y)


@pytest.mark.parametrize("intercept", [False, True])
def test_m13_the_widest_margin(intercept):
    model = sx.MaxMarginClassifier(fit_intercept=intercept).fit(NOTE_A_X, NOTE_A_Y)
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-15)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-15)
    assert (model.margin_, model.B_) == (1.0, 1.0)
    assert model.certificate_.verdict == "widest margin"
    assert model.certificate_.verify(NOTE_A_X, NOTE_A_Y)


def test_m13_the_mistake_bound_has_the_same_margin():
    model = sx.MaxMarginClassifier(fit_intercept=False).fit(NOTE_A_X, NOTE_A_Y)
    bound = sx.mistake_bound(NOTE_A_X, NOTE_A_Y)
    assert bound.exact
    assert bound.margin == model.margin_
    assert bound.bound == pytest.approx((bound.radius * model.B_) ** 2)


def test_classes_with_hard_and_soft_margins_have_one_certificate():
    X, y = sx.load_demo("iris")
    with pytest.warns(sx.errors.SeparationWarning, match="a soft margin instead"):
        model = sx.MaxMarginClassifier(on_overlap="soft").fit(X, y)
    certificate = model.certificate_
    assert (certificate.kind, certificate.verdict) == ("mixed", "mixed")
    assert [part.kind for part in certificate.parts] == ["margin", "optimality", "optimality"]
    again = sx.certificate_from_dict(certificate.to_dict())
    assert again.to_dict() == certificate.to_dict()
    assert again.verify(X, y)
    assert not again.verify(X, y[::-1])
    renamed = {**certificate.to_dict(), "kind": "margin"}
    with pytest.raises(sx.errors.CertificateError, match="malformed certificate"):
        sx.certificate_from_dict(renamed)
