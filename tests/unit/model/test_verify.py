"""`verify` of models: weights, class weights, rows that do not count, columns in any order, and labels of any type."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import OptionError

IRIS, NAMES = sx.load_demo("iris")
X = IRIS[:, :2]
TWO, THREE = NAMES != "setosa", np.ones(150, dtype=bool)
WEIGHTS = 1.0 + np.arange(150) % 3
SOME = np.where(np.arange(150) % 7 == 0, 0.0, WEIGHTS)  # rows of weight 0
UNEQUAL = (np.arange(150) % 5 < 4) | (NAMES == "virginica")

WEIGHTED: dict[str, Callable[..., Any]] = {
    "softmax": lambda **options: sx.LogisticRegression(strength=0.1, **options),
    "maximum likelihood": lambda **options: sx.LogisticRegression(on_separation="ignore", **options),
    "one-vs-rest": lambda **options: sx.LogisticRegression(strength=0.1, multiclass="one_vs_rest", **options),
    "svm": lambda **options: sx.LinearSVM(strength=0.1, **options),
    "kernel pairs": lambda **options: sx.KernelSVM(gamma=0.5, strength=0.1, **options),
    "kernel one-vs-rest": lambda **options: sx.KernelSVM(gamma=0.5, strength=0.1, multiclass="one_vs_rest", **options),
}
WITHOUT_CLASS_WEIGHTS: dict[str, Callable[..., Any]] = {
    "lms": sx.LMSClassifier,
    "generative": sx.GaussianGenerativeClassifier,
    "wrapped": lambda: sx.OneVsRest(sx.LinearSVM(strength=0.1)),
    "wrapped kernel": lambda: sx.OneVsRest(sx.KernelSVM(gamma=0.5, strength=0.1)),
}


SOME_SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "lms" else name for name in WITHOUT_CLASS_WEIGHTS]


def in_file(certificate: Any) -> Any:
    """Return the certificate as it comes back from a file."""
    return sx.certificate_from_dict(json.loads(certificate.to_json()))


@pytest.mark.parametrize("rows", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("weights", [WEIGHTS, SOME], ids=["weights", "some 0"])
@pytest.mark.parametrize("name", [*WEIGHTED, *SOME_SLOW])
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")  # of lms
def test_fits_with_sample_weights_are_proved_with_these_only(name: str, weights: Any, rows: Any) -> None:
    A, b, own = X[rows], NAMES[rows], weights[rows]
    model = (WEIGHTED | WITHOUT_CLASS_WEIGHTS)[name]().fit(A, b, sample_weight=own)
    checked = sx.verify(model, A, b, sample_weight=own)
    assert checked.holds, str(checked)
    assert checked.uncovered == ""
    data = model.certificate_.data
    assert (data.rows, data.weights, sum(data.counts)) == (len(b), True, np.count_nonzero(own))
    assert in_file(model.certificate_).verify(A, b, own)
    assert "FAILS: data: the fit had sample weights; give them" in str(sx.verify(model, A, b))
    if model.certificate_.verdict in {"separable", "quasi"}:  # whatever the weights
        return
    assert not sx.verify(model, A, b, sample_weight=own + np.arange(len(b)))
    assert not sx.verify(model, A, b, sample_weight=np.where(own > 0.0, own, 1.0) + (own > 0.0))


def test_weights_where_the_fit_had_none_are_refused() -> None:
    model = sx.LogisticRegression(strength=0.1).fit(X, NAMES)
    assert sx.verify(model, X, NAMES)
    assert "FAILS: data: the fit had no sample weights" in str(sx.verify(model, X, NAMES, np.ones(150)))


def test_rows_of_weight_0_may_have_any_label() -> None:
    model = sx.LinearSVM(strength=0.1).fit(X, NAMES, sample_weight=SOME)
    other = np.where(SOME == 0.0, "not an iris", NAMES)
    assert sx.verify(model, X, other, sample_weight=SOME)
    moved = np.where(SOME[:, np.newaxis] == 0.0, 1e6, X)
    assert sx.verify(model, moved, NAMES, sample_weight=SOME)


@pytest.mark.parametrize("rows", [TWO & UNEQUAL, UNEQUAL], ids=["two classes", "three classes"])
@pytest.mark.parametrize("weights", [None, SOME], ids=["plain", "with weights"])
@pytest.mark.parametrize("name", WEIGHTED)
def test_balanced_classes_are_proved_with_the_weights_of_the_certificate(name: str, weights: Any, rows: Any) -> None:
    A, b, own = X[rows], NAMES[rows], None if weights is None else weights[rows]
    model = WEIGHTED[name](class_weight="balanced").fit(A, b, sample_weight=own)
    checked = sx.verify(model, A, b, sample_weight=own)
    assert checked.holds, str(checked)
    assert checked.uncovered == ""
    data = model.certificate_.data
    masses = np.ones(len(b)) if own is None else own
    expected = [masses.sum() / len(data.labels) / masses[b == label].sum() for label in data.labels]
    assert data.class_weights == pytest.approx(expected, rel=1e-12)
    written = in_file(model.certificate_)
    assert written.verify(A, b, own)
    for other in (None, tuple(1.5 * weight if k else weight for k, weight in enumerate(data.class_weights))):
        assert not written.about(replace(data, class_weights=other)).verify(A, b, own)


def test_class_weights_in_a_wrapped_classifier_have_no_certificate() -> None:
    two = sx.OneVsRest(sx.LinearSVM(strength=0.1, class_weight="balanced")).fit(X[TWO], NAMES[TWO])
    assert sx.verify(two, X[TWO], NAMES[TWO])
    several = sx.OneVsRest(sx.LinearSVM(strength=0.1, class_weight="balanced")).fit(X, NAMES)
    assert several.score(X, NAMES) > 0.6
    with pytest.raises(OptionError, match=r'which no certificate has; use multiclass="one_vs_rest"'):
        sx.verify(several, X, NAMES)


@pytest.mark.parametrize(
    ("model", "scheme", "parts"),
    [
        (sx.KernelSVM(gamma=0.5, strength=0.1), "pairs", ["'setosa' and 'versicolor'", "'setosa' and 'virginica'"]),
        (sx.LinearSVM(strength=0.1), "one-vs-rest", ["'setosa'", "'versicolor'", "'virginica'"]),
    ],
    ids=["pairs", "one-vs-rest"],
)
def test_every_part_is_checked_and_named(model: Any, scheme: str, parts: list[str]) -> None:
    certificate = model.fit(X, NAMES).certificate_
    assert certificate.data.scheme == scheme
    names = [check.name for check in sx.verify(model, X, NAMES).certificates[0].verification.checks]
    for part in parts:
        assert any(name.endswith(f"({part})") for name in names)
    content = certificate.to_dict()
    content["parts"] = content["parts"][::-1]
    with pytest.raises(sx.errors.CertificateError, match="claim does not follow from the statement"):
        sx.certificate_from_dict(content)
    content["claim"] = "; ".join(certificate.claim.split("; ")[::-1])
    with pytest.raises(sx.errors.CertificateError, match="malformed certificate"):
        sx.certificate_from_dict(content)
    with pytest.raises(sx.errors.CertificateError, match="parts must be a list of 3"):
        sx.certificate_from_dict({**certificate.to_dict(), "parts": content["parts"][:2]})


# Chunks


@pytest.mark.parametrize(
    "model",
    [sx.Perceptron(), sx.LogisticRegression(strength=0.1, solver="stochastic", multiclass="one_vs_rest")],
    ids=["perceptron", "logistic"],
)
def test_a_chunk_without_a_class_is_certified_and_says_which(model: Any) -> None:
    model.partial_fit(IRIS[:50], NAMES[:50], classes=["setosa", "versicolor", "virginica"])
    assert model.certificate_.data.counts == (50, 0, 0)
    assert "no row has the label 'versicolor'" in model.certificate_.claim
    assert sx.verify(model, IRIS[:50], NAMES[:50])
    assert in_file(model.certificate_).verify(IRIS[:50], NAMES[:50])
    model.partial_fit(IRIS[40:110], NAMES[40:110])
    assert model.certificate_.data.counts == (10, 50, 10)
    assert in_file(model.certificate_).verify(IRIS[40:110], NAMES[40:110])
    assert not model.certificate_.verify(IRIS[:70], NAMES[:70])


def test_a_chunk_of_one_of_two_classes_is_certified() -> None:
    model = sx.Perceptron().partial_fit(IRIS[50:90], NAMES[50:90], classes=["versicolor", "virginica"])
    assert model.certificate_.data.counts == (40, 0)
    assert "no row has the label 'virginica'" in model.certificate_.claim
    assert in_file(model.certificate_).verify(IRIS[50:90], NAMES[50:90])
    assert not model.certificate_.verify(IRIS[50:90], np.full(40, "virginica"))


# Columns


@pytest.mark.parametrize("name", ["softmax", "one-vs-rest", "kernel pairs"])
def test_columns_are_matched_by_their_names(name: str) -> None:
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    model = WEIGHTED[name]().fit(frame, NAMES)
    assert model.certificate_.data.columns == tuple("abcd")
    other = frame[list("dbca")]
    assert sx.verify(model, frame, NAMES)
    assert in_file(model.certificate_).verify(other, NAMES)
    assert sx.verify(model, other, NAMES)
    assert sx.verify(model, frame.to_numpy(), NAMES)
    assert not sx.verify(model, other.to_numpy(), NAMES)
    renamed = sx.verify(model, frame.rename(columns={"c": "z"}), NAMES)
    assert "X has the columns ['a', 'b', 'z', 'd']; the certificate is of ['a', 'b', 'c', 'd']" in str(renamed)


@pytest.mark.parametrize("model", ["logistic", "svm", pytest.param("perceptron", marks=pytest.mark.slow), "kernel_svm"])
def test_columns_of_a_table_may_be_in_another_order(model: str) -> None:
    frame = pd.DataFrame(IRIS, columns=list("abcd")).assign(species=NAMES)
    trained = sx.train(frame, "species", model=model)
    checked = sx.verify(trained, frame[["species", *"dbca"]])
    assert checked.holds, str(checked)
    assert not sx.verify(trained, frame.assign(a=frame["b"], b=frame["a"]))


# Labels

NUMBERS = np.repeat([1, 2], 50)
WORDS = np.repeat(["a", "b"], 50)
WITH_ZERO = np.array(["a"] * 50 + ["a\0"] * 50, dtype=object)


@pytest.mark.parametrize(
    ("fitted", "given"),
    [
        (WORDS, WORDS.tolist()),
        (WORDS.tolist(), WORDS),
        (pd.Series(WORDS), WORDS),
        (WORDS, pd.Series(WORDS, index=np.arange(7, 107))),
        (WORDS.astype(object), WORDS),
        (pd.Series(WORDS).astype("category"), WORDS),
        (pd.Series(WORDS).astype("string"), WORDS.tolist()),
        (NUMBERS == 2, (NUMBERS == 2).tolist()),
        ((NUMBERS == 2).tolist(), pd.Series(NUMBERS == 2)),
        (NUMBERS, NUMBERS.astype(float)),
        (NUMBERS.astype(np.float32), NUMBERS.tolist()),
        (NUMBERS.astype(np.uint8), pd.Series(NUMBERS)),
        (NUMBERS + 2**53 - 1, (NUMBERS + 2**53 - 1).tolist()),
        (WITH_ZERO, WITH_ZERO.tolist()),
        (WITH_ZERO, pd.Series(WITH_ZERO)),
    ],
)
def test_labels_of_equal_value_and_type_are_the_same(fitted: Any, given: Any) -> None:
    model = sx.LogisticRegression(strength=0.1).fit(X[TWO], fitted)
    checked = sx.verify(model, X[TWO], given)
    assert checked.holds, str(checked)
    assert in_file(model.certificate_).verify(X[TWO], given)
    assert not sx.verify(model, X[TWO], list(given)[::-1])


@pytest.mark.parametrize(
    ("fitted", "given", "complaint"),
    [
        (NUMBERS - 1, NUMBERS == 2, "row 0 has label False; the certificate is of [0, 1]"),
        (NUMBERS == 2, NUMBERS - 1, "row 0 has label 0; the certificate is of [False, True]"),
        (NUMBERS == 2, (NUMBERS - 1.0).tolist(), "row 0 has label 0.0; the certificate is of [False, True]"),
        (NUMBERS, NUMBERS.astype(str), "row 0 has label '1'; the certificate is of [1, 2]"),
        (NUMBERS.astype(str), pd.Series(NUMBERS), "row 0 has label 1; the certificate is of ['1', '2']"),
        (WORDS, ["a\0"] * 50 + ["b"] * 50, r"row 0 has label 'a\x00'; the certificate is of ['a', 'b']"),
        (WORDS, ["a"] * 50 + ["b\0"] * 50, r"row 50 has label 'b\x00'; the certificate is of ['a', 'b']"),
        (WITH_ZERO, WORDS, r"row 50 has label 'b'; the certificate is of ['a', 'a\x00']"),
        (WORDS, [None] * 50 + ["b"] * 50, "row 0 has label None; the certificate is of ['a', 'b']"),
        (NUMBERS, [1.0] * 50 + [np.nan] * 50, "row 50 has label nan; the certificate is of [1, 2]"),
        (WORDS, WORDS[:-1], "y has shape (99,) where 100 labels are needed"),
    ],
)
def test_other_labels_are_refused_by_name(fitted: Any, given: Any, complaint: str) -> None:
    model = sx.LogisticRegression(strength=0.1).fit(X[TWO], fitted)
    checked = in_file(model.certificate_).verify(X[TWO], given)
    assert str(checked) == f"FAILS: data: {complaint}"
    if len(given) == 100:
        assert not sx.verify(model, X[TWO], given)
