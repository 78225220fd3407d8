"""Models of every kind at every door: saved, exported, verified, reported, evaluated, compared."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import DataError, ModelFileError, OptionError
from separatrix.model.adopt import as_model
from separatrix.model.train import TrainOptions, train_table

X, Y = sx.load_demo("iris")
X = X[50:, :2]  # two classes that overlap
LABELS = Y[50:]
FRAME = pd.DataFrame(X, columns=["length", "width"]).assign(species=LABELS)


def estimator(learner: Any = None) -> Any:
    return (sx.LogisticRegression(strength=0.01) if learner is None else learner).fit(X, LABELS)


def formula() -> Any:
    return sx.from_formula("species ~ length * width", FRAME, sx.LogisticRegression(strength=0.01))


def table_model(**options: Any) -> Any:
    return sx.train(FRAME, "species", **options)


KINDS = {
    "estimator": (estimator, (X, LABELS)),
    "kernel": (lambda: estimator(sx.KernelSVM()), (X, LABELS)),
    "one against the rest": (lambda: estimator(sx.OneVsRest(sx.LinearSVM())), (X, LABELS)),
    "formula": (formula, (FRAME,)),
    "table": (table_model, (FRAME,)),
    "table of a kernel": (lambda: table_model(model=sx.KernelSVM()), (FRAME,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_saved_verified_evaluated_and_reported(kind: str, tmp_path: Path) -> None:
    make, rows = KINDS[kind]
    model = make()
    sx.save_model(model, tmp_path / "model.json")
    loaded = sx.load_model(tmp_path / "model.json")
    assert loaded.message == as_model(model).message
    assert loaded.certificate is not None
    assert sx.verify(model, *rows).holds
    assert sx.evaluate(model, *rows).accuracy.value == pytest.approx(0.74, abs=0.04)
    sx.report(model, *rows, path=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "How well it predicts" in page
    assert ("<bdi>support vectors</bdi>" in page) == ("kernel" in kind)


@pytest.mark.parametrize("kind", ["estimator", "one against the rest", "formula", "table"])
def test_every_linear_kind_is_exported(kind: str) -> None:
    model = KINDS[kind][0]()
    columns = as_model(model).encoding.input_names
    text = sx.export(model, to="sql", table="flowers", keep=["id"])
    assert '"flowers"' in text
    assert '"id"' in text
    assert all(f'"{name}"' in text for name in columns)
    assert "def predict" in sx.export(model, to="python")
    assert isinstance(sx.export(model, to="onnx"), bytes)


@pytest.mark.parametrize("language", ["sql", "python", "onnx"])
def test_the_export_of_a_kernel_is_refused(language: str) -> None:
    with pytest.raises(OptionError, match=r"the scores of kernel_svm are kernel values of \d+ support vectors"):
        sx.export(estimator(sx.KernelSVM()), to=language)


def test_a_trained_model_is_its_model() -> None:
    trained = train_table(sx.read_table("demo:iris"), TrainOptions(target="species"))
    assert as_model(trained) is trained.model
    assert as_model(trained.model) is trained.model


# What cannot become a model


class Other:
    """No model."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Other(), "an object of type Other is no model; give what sx.train or sx.load_model returned, a fitted"),
        (sx.LinearSVM(), r"LinearSVM is not fitted; call its fit\(X, y\) first"),
        (sx.OneVsRest(sx.LinearSVM()), "OneVsRest is not fitted"),
    ],
    ids=["another object", "before its fit", "before its fits"],
)
def test_what_is_no_fitted_model_is_refused(model: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        sx.save_model(model, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def dot(A: Any, B: Any) -> Any:
    return A @ B.T


@pytest.mark.parametrize(
    ("learner", "rows", "message"),
    [
        (sx.KernelSVM(kernel="precomputed"), X @ X.T, "kernel='precomputed' is a matrix of rows against rows"),
        (sx.KernelSVM(kernel=dot), X, "a kernel function of your own cannot be written to a model file; name a kernel"),
        (sx.KernelSVM(kernel=sx.kernels.CustomKernel(dot)), X, "a kernel function of your own"),
        (sx.Perceptron(keep="vote", max_passes=5, on_overlap="run"), X, "keep='vote' is a vote of many predictors"),
        (sx.LinearSVM(), sx.maps.mapped(X, sx.maps.Polynomial(degree=2)), "a map makes of 2, and a model has no maps"),
    ],
    ids=["precomputed", "function", "kernel of a function", "vote", "map"],
)
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_what_a_file_cannot_hold_is_refused(learner: Any, rows: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        sx.save_model(learner.fit(rows, LABELS), tmp_path / "model.json")


@pytest.mark.parametrize("kernel", ["precomputed", dot, sx.kernels.Precomputed()], ids=["name", "function", "object"])
def test_a_table_is_not_fitted_by_a_kernel_that_no_model_can_hold(kernel: Any) -> None:
    with pytest.raises(OptionError, match=r"or give one of sx\.kernels"):
        table_model(model=sx.KernelSVM(kernel=kernel))


def test_a_model_needs_the_columns_and_targets_of_its_fit() -> None:
    with pytest.raises(OptionError, match="LogisticRegression was fitted to X and y; give y too"):
        sx.verify(estimator(), X)
    with pytest.raises(OptionError, match="the target 'species' is a column of the table; leave y out"):
        sx.verify(table_model(), FRAME, LABELS)
    with pytest.raises(OptionError, match="sample_weight is for the fit of an estimator"):
        sx.verify(table_model(), FRAME, sample_weight=np.ones(len(X)))
    with pytest.raises(DataError, match=r"X has the columns \['x1', 'x2'\]; the fit was of 4"):
        sx.report(sx.LinearSVM().fit(np.c_[X, X], LABELS), X, LABELS, path="unwritten.html")


def test_a_model_from_a_file_has_no_report(tmp_path: Path) -> None:
    sx.save_model(table_model(), tmp_path / "model.json")
    with pytest.raises(OptionError, match="read from a file has no record of its fit"):
        sx.report(sx.load_model(tmp_path / "model.json"), FRAME, path=tmp_path / "report.html")


# The parts of an adopted model


def test_a_model_of_arrays_tells_its_rows_but_no_digest() -> None:
    data = as_model(estimator()).data
    assert (data["source"], data["rows"]) == ("arrays", 100)
    assert [column["name"] for column in data["columns"]] == ["x1", "x2"]
    assert "sha256" not in data
    assert "It is not known whether these are the rows" in str(sx.verify(estimator(), X, LABELS))
    assert "These are the rows that it was fitted on." in str(sx.verify(table_model(), FRAME))


def test_a_target_is_not_called_as_a_column() -> None:
    frame = pd.DataFrame(X, columns=["x", "y"])
    assert as_model(sx.LinearSVM().fit(frame, LABELS)).target == "target"


def test_partial_fits_count_all_their_rows() -> None:
    learner = sx.Perceptron(max_passes=1000)
    for part in (slice(0, 40), slice(40, 100)):
        learner.partial_fit(X[::-1][part], LABELS[::-1][part], classes=np.unique(LABELS))
    assert as_model(learner).data["rows"] == 100


def test_a_model_keeps_its_fit_without_the_rows() -> None:
    model = table_model()
    assert model.fitted.table is not None
    assert len(pickle.dumps(model)) < 60_000


def test_a_missing_cell_is_refused_by_an_adopted_model() -> None:
    table = sx.read_table("demo:iris")
    with pytest.raises(DataError, match="has no column 'x1', 'x2'"):
        as_model(estimator()).predict(table)


@pytest.mark.parametrize("kind", ["estimator", "formula", "table"])
def test_altered_coefficients_are_not_the_certified_ones(kind: str, tmp_path: Path) -> None:
    model = as_model(KINDS[kind][0]())
    altered = replace(model, coef=model.coef * 1.01)
    sx.save_model(altered, tmp_path / "model.json")
    source = FRAME if kind == "table" else pd.DataFrame(X, columns=["x1", "x2"]).assign(y=LABELS)
    if kind == "formula":
        source = formula().matrix(FRAME).assign(species=LABELS)
    checked = sx.verify(sx.load_model(tmp_path / "model.json"), source)
    assert not checked
    assert "FAILS: coefficients" in str(checked)
    assert sx.verify(model, source).holds


@pytest.mark.parametrize("learner", [sx.KernelSVM(), sx.KernelPerceptron(gamma=5.0, max_passes=3)], ids=str)
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_altered_support_vectors_are_not_the_certified_ones(learner: Any) -> None:
    model = sx.train("demo:iris", model=learner)
    assert sx.verify(model, "demo:iris").holds
    machine = model.kernel.machines[0]
    for part in ("vectors", "coef", "intercept"):
        other = replace(machine, **{part: getattr(machine, part) * 1.001})
        checked = sx.verify(replace(model, kernel=replace(model.kernel, machines=(other,))), "demo:iris")
        assert "FAILS: coefficients: scores by" in str(checked), part


# Kernel machines in files


@pytest.fixture(scope="module")
def kernel_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("models") / "model.json"
    sx.save_model(sx.train("demo:iris", model=sx.KernelSVM(kernel="polynomial", degree=2)), path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksum"]
    return content


def test_a_kernel_file_satisfies_the_schema_and_has_no_coefficients(kernel_file: dict[str, Any]) -> None:
    schema = json.loads(files("separatrix.model").joinpath("schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(kernel_file)
    assert (kernel_file["format"], kernel_file["coef"], kernel_file["intercept"]) == (2, [], [])
    machine = kernel_file["kernel"]["machines"][0]
    assert kernel_file["kernel"]["votes"]
    assert (len(machine["coef"]), len(machine["vectors"][0])) == (3, 4)
    assert not validator.is_valid({**kernel_file, "kernel": {"votes": True, "machines": []}})


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("votes",), 1, "kernel.votes is 1; true or false is needed"),
        (("votes",), False, ""),
        (("machines",), [], "kernel.machines has 0 entries; at least 1 are needed"),
        (("machines", 0, "kernel", "name"), "precomputed", 'kernel.machines[0].kernel.name is "precomputed"'),
        (("machines", 0, "kernel", "gamma"), -1.0, "kernel.machines[0].kernel: gamma=-1.0"),
        (("machines", 0, "kernel", "degree"), 0, "kernel.machines[0].kernel: degree=0"),
        (("machines", 0, "vectors", 0), [1.0], "kernel.machines[0].vectors[1] has 4 entries; 1 are needed"),
        (("machines", 0, "intercept"), [0.0], "kernel.machines[0].intercept has 1 entries; 3 are needed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_fault_in_a_kernel_is_named(
    place: tuple[Any, ...], value: Any, message: str, kernel_file: dict[str, Any], tmp_path: Path
) -> None:
    content = json.loads(json.dumps(kernel_file))
    inner = content["kernel"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    if not message:  # three scores may be of three pairs or of three classes
        assert sx.load_model(path).kernel.votes is False
        return
    with pytest.raises(ModelFileError) as refused:
        sx.load_model(path)
    assert message in str(refused.value)


def test_the_columns_of_a_kernel_are_all_needed() -> None:
    model = sx.train("demo:iris", model="kernel_perceptron")
    table = sx.read_table("demo:iris").without(["petal_width"])
    with pytest.raises(DataError, match="has no column 'petal_width', which the model uses"):
        model.predict(table)
    assert model.predict(table, allow_absent=True).distance is None


# Comparisons


def test_models_are_compared_by_their_own_coefficients() -> None:
    own, kernel = estimator(), estimator(sx.KernelSVM())
    page = sx.compare(X, LABELS, models=[own, kernel])
    first, second = page.compared[-2:]
    assert [first.learner, second.learner] == ["model 1: logistic", "model 2: kernel_svm"]
    assert first.mistakes == int((own.predict(X) != LABELS).sum())
    assert second.mistakes == int((kernel.predict(X) != LABELS).sum())
    assert first.weights == dict(zip(["x1", "x2"], own.coef_[0].tolist(), strict=True))
    assert (second.weights, second.intercept, first.held_out) == ({}, None, None)
    text = str(page)
    assert text.startswith("virginica against versicolor, y of arrays")
    assert "model 2: kernel_svm" in text


def test_a_table_is_compared_with_models_by_name_and_the_other_class_positive(tmp_path: Path) -> None:
    sx.save_model(table_model(), tmp_path / "model.json")
    loaded = sx.load_model(tmp_path / "model.json")
    page = sx.compare(FRAME, target="species", positive="versicolor", models={"mine": loaded}, holdout=0.0)
    mine, logistic = page.compared[-1], next(row for row in page.compared if row.learner == "logistic")
    assert (mine.learner, mine.ending.passes, mine.ending.verdict) == ("mine", None, "optimal")
    np.testing.assert_allclose(mine.weights["length"], logistic.weights["length"], rtol=1e-6)
    np.testing.assert_allclose(mine.losses["logistic"], logistic.losses["logistic"], rtol=1e-6)
    assert page.held_out == 0


def test_only_models_of_the_two_classes_are_compared() -> None:
    with pytest.raises(OptionError, match=r"model 1: logistic is of the classes \['setosa', 'versicolor', 'virginica'"):
        sx.compare(FRAME, target="species", models=[sx.train("demo:iris")])
    with pytest.raises(OptionError, match="model 1: linear is of numbers"):
        sx.compare(X, LABELS, models=[sx.LinearRegression().fit(X, X[:, 0])])


@pytest.mark.parametrize("options", [{"reference_class": "versicolor"}, {"reference_class": "setosa", "strength": 0.1}])
def test_coefficients_relative_to_a_reference_class_are_the_certified_ones(options: dict[str, Any]) -> None:
    rows, species = sx.load_demo("iris")
    model = sx.LogisticRegression(on_separation="ignore", **options).fit(rows[:, :2], species)
    assert sx.verify(model, rows[:, :2], species)
    trained = sx.train("demo:iris", drop=["petal_length", "petal_width"], **options)
    assert sx.verify(trained, "demo:iris")
    other = replace(trained, options={**trained.options, "reference_class": "virginica"})
    assert not sx.verify(other, "demo:iris")


def test_a_model_predicts_frames_and_paths(tmp_path: Path) -> None:
    frame = FRAME.assign(kind=np.where(X[:, 0] > 6, "1", "2"))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    model = sx.train(path, "species")
    expected = model.predict(sx.read_table(path)).scores.tolist()
    assert model.predict(str(path)).scores.tolist() == model.predict(frame).scores.tolist() == expected
    with pytest.raises(DataError, match="ndarray cannot be read as a frame"):
        model.predict(X)


def test_any_names_of_columns_leave_one_for_the_target() -> None:
    frame = pd.DataFrame(np.column_stack([X, X**2]), columns=["y", "target", "the target", "target_2"])
    model = sx.LogisticRegression(strength=0.1).fit(frame, LABELS)
    assert sx.verify(model, frame, LABELS)
    assert as_model(model).target not in frame.columns


def test_columns_and_reference_levels_are_taken_as_they_are_written() -> None:
    frame = FRAME.assign(clinic=np.arange(len(X)) % 3, smoker=np.arange(len(X)) % 2 == 0)
    model = sx.train(frame, "species", drop="width", reference={"clinic": 1, "smoker": True})
    assert model.encoding.feature_names == ("length", "clinic=0", "clinic=2", "smoker=false")
    same = sx.train(frame, "species", drop=["width"], reference={"clinic": "1", "smoker": "true"})
    assert same.coef.tolist() == model.coef.tolist()
    with pytest.raises(OptionError, match=r"reference=\['clinic'\] has no levels; give one for each column"):
        sx.train(frame, "species", reference=["clinic"])  # type: ignore[arg-type]
