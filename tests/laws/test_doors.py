"""Laws of the doors: an option is written once, and means the same to an estimator, to `sx.train` and to a flag.

The estimator on the encoded matrix and `sx.train` on the table agree bit for bit in coefficients, status, certificate
and inference: for every family, at both scalings, for every value of every option that takes a choice, and with a
column of weights where they are taken. Rows on disk agree with rows on disk, with and without weights.
"""

from __future__ import annotations

import inspect
import json
import runpy
import warnings
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.flags import spell_flag
from separatrix.cli.main import app
from separatrix.errors import DataError, OptionError, SeparationError
from separatrix.families.base import Fitted
from separatrix.families.options import FAMILIES, Options, option, table_options
from separatrix.jit import WorkGate
from separatrix.model.train import TrainOptions, train_table
from separatrix.tables.frames import from_frame

ROOT = Path(__file__).parents[2]
ESTIMATORS = {
    "logistic": sx.LogisticRegression,
    "linear": sx.LinearRegression,
    "svm": sx.LinearSVM,
    "perceptron": sx.Perceptron,
    "lms": sx.LMSClassifier,
    "generative": sx.GaussianGenerativeClassifier,
    "halfspace": sx.HalfspaceLP,
    "max_margin": sx.MaxMarginClassifier,
    "zero_one": sx.ZeroOneClassifier,
    "kernel_perceptron": sx.KernelPerceptron,
    "kernel_svm": sx.KernelSVM,
}
LIMITS = {  # so that each fit ends soon
    "perceptron": {"max_passes": 30, "random_state": 0},
    "kernel_perceptron": {"max_passes": 20, "random_state": 0},
    "lms": {"max_passes": 60, "random_state": 0},
    "zero_one": {"max_steps": 3},
    "kernel_svm": {"max_steps": 5},
    "halfspace": {"on_overlap": "soft"},
    "max_margin": {"on_overlap": "soft"},
}
# Beside the choices of `Literal` types: values of numbers, and combinations that are needed for a choice to matter.
MORE: dict[str, list[dict[str, Any]]] = {
    "logistic": [
        {"strength": 0.1},
        {"strength": 0.1, "scaling": "spread"},
        {"strength": 0.05, "l1_ratio": 1.0, "scaling": "spread"},
        {"strength": "cv", "strengths": 5, "scaling": "spread"},
        {"strength": "cv", "strengths": 5, "cv_choice": "best"},
        {"strength": "auto"},
        {"positive": "no"},
        {"reference_class": "yes"},
        {"class_weight": "balanced"},
        {"fit_intercept": False},
        {"solver": "newton_cg"},
        {"solver": "gradient", "stop": "change", "scaling": "spread", "max_passes": 50},
        {"solver": "stochastic", "order": "shuffled", "keep": "average", "random_state": 2, "max_passes": 50},
        {"threshold": 0.3},
    ],
    "linear": [
        {"strength": 0.1},
        {"strength": 0.1, "scaling": "spread"},
        {"strength": 0.1, "l1_ratio": 0.5, "scaling": "spread"},
        {"strength": "cv", "strengths": 5, "scaling": "spread"},
        {"fit_intercept": False},
        {"solver": "newton"},
    ],
    "svm": [
        {"scaling": "spread"},
        {"strength": 0.1, "loss": "squared_hinge", "scaling": "spread"},
        {"strength": "cv", "strengths": 4},
        {"class_weight": {"no": 1.0, "yes": 3.0}},
        {"positive": "no"},
    ],
    "perceptron": [
        {"order": "shuffled", "random_state": 3},
        {"order": "random", "random_state": 3, "rate": 0.5},
        {"start": [0.5, 0.0, 1.0, -1.0, 0.0]},
        {"positive": "no", "keep": "average"},
        {"margin": 1.0},
    ],
    "lms": [
        {"scaling": "spread"},
        {"update": "stochastic", "order": "shuffled", "random_state": 1, "scaling": "spread"},
        {"update": "stochastic", "schedule": "inverse", "keep": "average"},
        {"start": [0.5, 0.0, 1.0, -1.0, 0.0], "scaling": "spread"},
    ],
    "generative": [{"priors": [0.3, 0.7]}, {"positive": "no"}],
    "halfspace": [{"positive": "no"}],
    "max_margin": [{"fit_intercept": False}],
    "zero_one": [{"positive": "no"}],
    "kernel_perceptron": [{"kernel": "polynomial", "degree": 2}],
    "kernel_svm": [{"gamma": 0.5, "strength": 0.1}, {"class_weight": "balanced"}],
}


@pytest.fixture(autouse=True)
def _one_form_of_each_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpret every loop: a process compiles them after some work, which may change the last bit of a sum."""
    monkeypatch.setattr(WorkGate, "choose", lambda _, loop, __: loop)


def frame(classes: bool = True) -> pd.DataFrame:
    """Numbers of different scales, a category and a truth value; labels that overlap, or numbers to predict."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2)) * [1.0, 300.0]
    kind = rng.choice(["a", "b"], size=90)
    flag = rng.random(90) < 0.4
    score = X[:, 0] + X[:, 1] / 300.0 + (kind == "b") - flag + 1.5 * rng.normal(size=90)
    target = np.where(score > 0.0, "yes", "no") if classes else score
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "kind": kind, "flag": flag, "target": target})


def choices(kind: type[Options]) -> Iterator[dict[str, Any]]:
    """Yield each choice of each option whose type is a `Literal`."""
    types = get_type_hints(kind)
    for field in fields(kind):
        if get_origin(types[field.name]) is Literal:
            yield from ({field.name: choice} for choice in get_args(types[field.name]))


def allowed(family: str, options: dict[str, Any]) -> bool:
    """Leave out choices that raise, or have no single predictor."""
    batch = family == "lms" and options.get("update", "batch") == "batch"
    solved = family in {"logistic", "linear"} and "solver" not in options
    return not (
        options.get("keep") == "vote"
        or options.get("on_separation") == "raise"
        or options.get("on_overlap") == "raise"
        or (batch and {"order", "schedule", "keep"} & set(options))
        or (solved and {"order", "schedule", "keep", "stop"} & set(options))  # of gradient and stochastic descent
    )


CASES = [
    (family, options)
    for family, kind in FAMILIES.items()
    for options in ({}, *choices(kind), *MORE[family])
    if allowed(family, options)
]


def made(family: str, options: dict[str, Any]) -> Any:
    """Return the unfitted estimator of a family."""
    return ESTIMATORS[family](**{**LIMITS.get(family, {}), **options})


@dataclass
class BothDoors:
    """The fit of a table, the fit of its encoded matrix, and the estimator of the latter."""

    table: Fitted
    matrix: Fitted
    estimator: Any


def fitted_twice(family: str, options: dict[str, Any], weights: Any = None) -> BothDoors:
    data = frame(classes=family != "linear")
    estimator, own, by_row = made(family, options), {}, {}
    if weights is not None:
        data["weight"], own, by_row = weights, {"weights": "weight"}, {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = train_table(from_frame(data), TrainOptions(clone(estimator), target="target", **own))
        encoding = trained.model.encoding
        X = encoding.apply(from_frame(data)).X
        columns = pd.DataFrame(X, columns=encoding.feature_names)
        estimator.fit(columns, data["target"].to_numpy(), **by_row)
    return BothDoors(trained.fitted, estimator.fitted_, estimator)


def assert_equal_fits(first: Fitted, second: Fitted) -> None:
    assert first.coef.tolist() == second.coef.tolist()
    assert first.intercept.tolist() == second.intercept.tolist()
    assert first.result.status == second.result.status
    assert first.result.message == second.result.message
    assert first.labels == second.labels
    assert first.strength == second.strength
    assert json.dumps(first.result.certificate.to_dict()) == json.dumps(second.result.certificate.to_dict())
    tables = [None if each.table is None else each.table.to_dict() for each in (first, second)]
    assert tables[0] == tables[1]
    assert first.options.plain() == second.options.plain()


@pytest.mark.parametrize(("family", "options"), CASES, ids=[f"{name}-{options}" for name, options in CASES])
def test_a_table_and_its_encoded_matrix_have_the_same_fit(family: str, options: dict[str, Any]) -> None:
    both = fitted_twice(family, options)
    assert_equal_fits(both.table, both.matrix)


WEIGHTED = [family for family, kind in FAMILIES.items() if kind.weighted]
WEIGHTED_CASES = [(family, options) for family in WEIGHTED for options in ({}, *MORE[family])]


@pytest.mark.parametrize(("family", "options"), WEIGHTED_CASES, ids=[f"{name}-{each}" for name, each in WEIGHTED_CASES])
def test_a_column_of_weights_is_the_sample_weight_of_the_encoded_matrix(family: str, options: dict[str, Any]) -> None:
    both = fitted_twice(family, options, np.arange(90) % 4 / 2.0)
    assert_equal_fits(both.table, both.matrix)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_taken_by_both_doors_or_by_neither(family: str) -> None:
    assert has_fit_parameter(ESTIMATORS[family], "sample_weight") is (family in WEIGHTED)
    if family not in WEIGHTED:
        with pytest.raises(OptionError, match=f"weights are for logistic, linear, .*, not for {family}; leave them"):
            fitted_twice(family, {}, np.ones(90))


def test_a_model_of_weighted_rows_is_verified_and_evaluated_with_their_weights(tmp_path: Path) -> None:
    data = frame().assign(weight=np.arange(90) % 4)
    model = sx.train(data, "target", weights="weight")
    assert "weight" not in model.encoding.feature_names
    sx.save_model(model, tmp_path / "model.json")
    loaded = sx.load_model(tmp_path / "model.json")
    assert sx.verify(loaded, data).holds
    assert not sx.verify(loaded, data.assign(weight=1)).holds
    repeated = data.loc[data.index.repeat(data["weight"])].drop(columns="weight")
    assert sx.evaluate(loaded, data).accuracy.value == pytest.approx(sx.evaluate(loaded, repeated).accuracy.value)
    assert sx.evaluate(loaded, data).rows == int((data["weight"] > 0).sum())
    with pytest.raises(DataError, match="no column 'weight'"):
        sx.verify(loaded, data.drop(columns="weight"))


def test_the_command_line_takes_the_column_of_weights(tmp_path: Path) -> None:
    data, path, out = frame().assign(weight=np.arange(90) % 4), tmp_path / "table.csv", tmp_path / "model.json"
    data.to_csv(path, index=False)
    arguments = ["fit", str(path), "--target", "target", "--weights", "weight", "--weight-kind", "frequency"]
    assert CliRunner().invoke(app, [*arguments, "--out", str(out)]).exit_code == 0
    repeated = data.loc[data.index.repeat(data["weight"])].drop(columns="weight")
    expected = sx.train(repeated, "target")
    model = sx.load_model(out)
    np.testing.assert_allclose(model.coef, expected.coef, rtol=1e-6)
    assert model.summary["terms"][0]["standard_error"] == pytest.approx(expected.summary["terms"][0]["standard_error"])
    assert CliRunner().invoke(app, ["verify", str(out), str(path)]).exit_code == 0


@pytest.mark.parametrize("weight", [-1.0, np.nan, 0.0, "heavy"])
def test_weights_that_are_none_are_refused(weight: Any) -> None:
    with pytest.raises(DataError, match="the weights 'weight' "):
        sx.train(frame().assign(weight=weight), "target", weights="weight")


def test_separated_classes_raise_at_both_doors_if_they_are_to() -> None:
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "target": ["no", "no", "yes", "yes"]})
    estimator = sx.LogisticRegression(on_separation="raise")
    with pytest.raises(SeparationError, match="the likelihood has no maximum"):
        estimator.fit(data[["x"]], data["target"])
    with pytest.raises(SeparationError, match="the likelihood has no maximum"):
        sx.train(data, "target", model=estimator)


@pytest.mark.parametrize("cells", [str, int])
def test_a_column_with_a_reference_level_is_a_category(cells: type, tmp_path: Path) -> None:
    data = frame().assign(clinic=(np.arange(90) % 3 + 1).astype(cells))
    data.to_csv(tmp_path / "table.csv", index=False)
    for table in (data, tmp_path / "table.csv"):
        names = sx.train(table, "target", reference={"clinic": "1"}).encoding.feature_names
        assert [name for name in names if "clinic" in name] == ["clinic=2", "clinic=3"]


@pytest.mark.parametrize("family", [family for family in FAMILIES if not family.startswith("kernel")])
def test_a_named_family_is_its_estimator_with_the_defaults_of_tables(family: str) -> None:
    data = frame(classes=family != "linear")
    options = {**LIMITS.get(family, {})}
    kind = FAMILIES[family]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = train_table(from_frame(data), TrainOptions(family, options, target="target"))
        X = trained.model.encoding.apply(from_frame(data)).X
        spread = {"scaling": "spread"} if "scaling" in {field.name for field in fields(kind)} else {}
        estimator = ESTIMATORS[family](**options, **spread).fit(X, data["target"].to_numpy())
    assert trained.fitted.coef.tolist() == estimator.fitted_.coef.tolist()
    assert trained.fitted.intercept.tolist() == estimator.fitted_.intercept.tolist()


ON_DISK = [case for case in CASES if not case[0].startswith("kernel") and case[0] != "zero_one"]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "options"), ON_DISK, ids=[f"{name}-{options}" for name, options in ON_DISK])
def test_rows_on_disk_have_the_same_fit_each_time_and_that_of_memory(family: str, options: dict[str, Any]) -> None:
    data = frame(classes=family != "linear")
    X = np.column_stack([data[["x", "z"]], data["kind"] == "b", data["flag"]])
    y = data["target"].to_numpy()
    weights = {"sample_weight": np.arange(90) % 3 + 1.0} if family in WEIGHTED else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_memory = made(family, options).fit(X, y, **weights)
        with sx.blocked(X) as rows:
            first, second = (made(family, options).fit(rows, y, **weights) for _ in range(2))
            assert_equal_fits(first.fitted_, second.fitted_)
    if in_memory.result_.status.reached_goal:
        np.testing.assert_allclose(first.coef_, in_memory.coef_, rtol=1e-6, atol=1e-9)


def test_every_option_is_a_parameter_a_flag_a_line_of_the_docs_and_an_entry_of_the_file() -> None:
    docs = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    shown = CliRunner().invoke(app, ["fit", "--help"]).stdout
    sections = dict(zip(FAMILIES, docs.split("\n## ")[1:], strict=True))
    for family, kind in FAMILIES.items():
        signature = inspect.signature(ESTIMATORS[family]).parameters
        plain, described = kind().checked().plain(), str(ESTIMATORS[family].__doc__)
        for field in fields(kind):
            assert field.default is not MISSING
            assert signature[field.name].default == field.default
            assert f"    {field.name} : {field.metadata['help'][:40]}" in described
            assert f"| `{field.name}` |" in sections[family]
            assert field.name in plain
            if field.metadata["flag"] is not None:
                assert spell_flag(field.name) in shown


def test_the_page_of_options_is_what_the_script_makes_of_the_fields() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "options_reference.py"))["render"]()
    kept = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert kept == page, "run scripts/options_reference.py > docs/options.md"


def test_the_schema_of_model_files_is_what_the_script_makes_of_their_fields() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "model_schema.py"))["render"]()
    kept = (ROOT / "src" / "separatrix" / "model" / "schema.json").read_text(encoding="utf-8")
    assert kept == made, "run scripts/model_schema.py > src/separatrix/model/schema.json"


def test_a_new_option_is_one_field_and_its_use() -> None:
    """A field alone makes the parameter, its check, its line in the docstring and its entry in the file."""

    @dataclass(kw_only=True, repr=False, eq=False)
    class Shrunken(FAMILIES["generative"]):  # type: ignore[misc]  # a family taken from the table
        shrinkage: float = option(0.5, "share by which the means are drawn together", least=0.0, most=1.0)

    class Classifier(Shrunken, sx.GaussianGenerativeClassifier):
        """A classifier.

        {parameters}
        """

    model = Classifier(shrinkage=0.25)
    assert model.get_params()["shrinkage"] == 0.25
    assert clone(model).set_params(shrinkage=1.0).checked().plain()["shrinkage"] == 1.0
    assert "shrinkage : share by which the means are drawn together" in str(Classifier.__doc__)
    with pytest.raises(OptionError, match="shrinkage=2 is out of range; give a finite number of at least 0 and at m"):
        Classifier(shrinkage=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1])


@pytest.mark.parametrize("family", FAMILIES)
def test_an_option_of_other_families_names_them(family: str) -> None:
    known = {field.name for field in fields(FAMILIES[family])}
    for name in {field.name for kind in FAMILIES.values() for field in fields(kind)} - known:
        owners = [each for each, kind in FAMILIES.items() if name in {field.name for field in fields(kind)}]
        with pytest.raises(OptionError, match=f"{name} is an option of .*{owners[-1]}, not of {family}"):
            table_options(family, {name: 1})
