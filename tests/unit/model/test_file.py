"""Model files: exact, whole or not there, and refused by name whatever was done to them."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from made_models import LABELS, made_model, mixed_table

from separatrix.errors import CertificateError, ModelFileError, OptionError
from separatrix.model.file import load_model, model_from_dict, model_to_dict, save_model
from separatrix.model.record import Model
from separatrix.tables.table import Column, Table

GOLDEN = Path(__file__).parents[2] / "golden" / "model-format-1.json"
NAN = np.nan


@pytest.fixture(scope="module")
def model() -> Model:
    return made_model(mixed_table(1, text=True), covariance=True, text=["message"])


@pytest.fixture(scope="module")
def text(model: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("models") / "model.json"
    save_model(model, path)
    return path.read_text(encoding="utf-8")


def refusal(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ModelFileError) as refused:
        load_model(path)
    return str(refused.value)


def altered(text: str, *place: Any, value: Any) -> str:
    """Return a file with another value at a place."""
    data = json.loads(text)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(data)


# Round trip


@pytest.mark.parametrize("link", LABELS)
def test_a_model_comes_back_bit_for_bit(link: str, tmp_path: Path) -> None:
    table = mixed_table(1, text=True)
    model = made_model(table, link, covariance=len(LABELS[link] or "x") < 3, text=["message"])
    coef = model.coef.copy()
    coef[0, :4] = 0.1, 5e-324, 1.7976931348623157e308, -0.0
    model = replace(model, coef=coef)
    save_model(model, tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert again.coef.tobytes() == model.coef.tobytes()
    assert again.intercept.tobytes() == model.intercept.tobytes()
    assert again.encoding == model.encoding
    assert (again.classes, again.rule, again.task) == (model.classes, model.rule, model.task)
    assert json.dumps(model_to_dict(again)) == json.dumps(model_to_dict(model))
    if model.covariance is not None and again.covariance is not None:
        assert again.covariance.matrix.tobytes() == model.covariance.matrix.tobytes()
    said, told = model.predict(table).columns(), again.predict(table).columns()
    assert all(np.array_equal(said[name], told[name], equal_nan=said[name].dtype.kind == "f") for name in said)


def test_equal_models_make_equal_files(model: Model, text: str, tmp_path: Path) -> None:
    save_model(load_model_text(text, tmp_path), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == text


def load_model_text(text: str, folder: Path) -> Model:
    (folder / "m.json").write_text(text, encoding="utf-8")
    return load_model(folder / "m.json")


def test_numbers_that_json_lacks_become_words_in_free_parts_only(model: Model, tmp_path: Path) -> None:
    odd = {"a": np.inf, "b": [np.float64(NAN), np.int64(3)], "c": np.arange(2), "d": Path("x")}
    save_model(replace(model, summary=odd), tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").summary == {"a": "inf", "b": ["nan", 3], "c": [0, 1], "d": "x"}


@pytest.mark.parametrize("link", LABELS)
def test_files_satisfy_the_schema_that_is_shipped(link: str, tmp_path: Path) -> None:
    schema = json.loads(files("separatrix.model").joinpath("schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    model = made_model(mixed_table(1, text=True), link, text=["message"])
    save_model(model, tmp_path / "m.json")
    data = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    validator.validate(data)
    assert set(data) == {*schema["required"], "checksum"}
    data["columns"][0].pop("idf")
    assert not validator.is_valid(data)


def test_format_1_keeps_loading() -> None:
    model = load_model(GOLDEN)
    frozen = json.loads(GOLDEN.with_name("model-format-1-predictions.json").read_text(encoding="utf-8"))
    cells = {name: np.asarray([row[name] for row in frozen["rows"]], dtype=object) for name in frozen["rows"][0]}
    said = model.predict(Table(tuple(Column(name, "text", own) for name, own in cells.items()), "frozen"))
    assert model.classes == ("no", "yes")
    assert list(model.encoding.feature_names) == frozen["features"]
    assert said.labels.tolist() == frozen["prediction"]
    np.testing.assert_allclose(said.scores, frozen["score"], rtol=1e-12, atol=1e-13)
    assert said.intervals is not None
    seen = np.asarray(["was not seen in training" not in (note or "") for note in said.notes])
    assert np.isnan(said.intervals.upper).tolist() == (~seen).tolist()
    np.testing.assert_allclose(said.intervals.upper[seen], np.asarray(frozen["upper"])[seen], rtol=1e-9)


# Refusals


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("format",), 3, "its format is 3, and this release reads formats up to 2; install a newer separatrix"),
        (("format",), "1", 'format is "1"; a whole number is needed'),
        (("format",), True, "format is true"),
        (("coef", 0, 3), "0.5", 'coef[0][3] is "0.5"; a finite number is needed'),
        (("coef", 0, 3), None, "coef[0][3] is null; a finite number is needed"),
        (("coef", 0), [1.0, 2.0], "coef has shape (1, 2)"),
        (("coef",), [], "intercept has 1 entries; 0 are needed"),
        (("intercept",), [1, 2], "intercept has 2 entries; 1 are needed"),
        (("intercept", 0), 10**400, "intercept[0] is an integer beyond every float; a finite number is needed"),
        (("classes",), ["a", "b", "c"], "rule.link is 'sigmoid', which is no link of 3 classes"),
        (("classes",), ["a", "a"], 'classes[1] is "a"; a distinct entry is needed'),
        (("classes",), None, "classes are null, which a classification cannot have"),
        (
            ("classes", 1),
            {},
            "classes[1] is an object; text or a whole number or a finite",
        ),
        (("rule", "link"), "softmax", "rule.link is 'softmax', which is no link of 2 classes"),
        (("rule", "link"), "probit", "rule.link is \"probit\"; known: 'sigmoid'"),
        (("rule", "threshold"), 1.0, "rule.threshold is 1.0; a number above 0 and below 1 is needed"),
        (("task",), "ranking", "task is \"ranking\"; known: 'classification', 'regression'"),
        (("features", 0), "x", "features does not agree with the values beside it"),
        (("columns", 2, "name"), "message", "columns"),
        (("columns", 0, "idf", 0), -1.0, "columns[0].idf[0] is -1.0; a number above 0 is needed"),
        (("columns", 0, "seen", 0), 10**9, "columns[0]: seen must have ascending whole numbers"),
        (("encoding", "sparse"), "no", 'encoding.sparse is "no"; true or false is needed'),
        (("data",), [], "data is a list; an object is needed"),
        (("data", "columns"), [{"name": "a", "kind": "b"}], 'data.columns[0].kind is "b"'),
        (("data", "columns"), [{"name": "a", "kind": "date", "format": "%d/%b'%Y"}], "data.columns[0]: format is"),
        (("data", "target"), {"name": "a", "kind": "number", "format": "'; DROP TABLE t; --"}, "data.target: format"),
        (("certificate",), 3, "certificate is 3; an object is needed"),
        (("certificate", "kind"), 3, "certificate.kind is 3; text is needed"),
        (("certificate", "claim"), 3, "certificate.claim is 3; text is needed"),
        (("covariance", "matrix"), [[1.0]], "covariance.matrix is no covariance of"),
        (
            ("covariance", "degrees_of_freedom"),
            -1,
            "covariance.degrees_of_freedom is -1; a number of at least 0",
        ),
        (("message",), 3, "message is 3; text is needed"),
        (("target",), "\ud800", r'target is "\ud800"; text is needed'),
    ],
)
def test_altered_files_are_refused_with_the_place(
    text: str, tmp_path: Path, place: tuple[Any, ...], value: Any, complaint: str
) -> None:
    said = refusal(tmp_path / "m.json", altered(text, *place, value=value))
    assert complaint in said
    assert str(tmp_path / "m.json") in said


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "it is not valid JSON, or was truncated or altered"),
        ("[]", "the file is a list; an object is needed"),
        ("{}", "format is null; a whole number is needed"),
        ('{"format": 1}', "estimator is missing"),
        ('{"format": NaN}', "format is NaN; a whole number is needed"),
        ('{"format": 1e999}', "format is Infinity; a whole number is needed"),
        ('{"format": 1, "format": 1}', "format is given twice"),
        ("[" * 100_000, "it nests deeper than 64 levels"),
        ("[" * 70 + "]" * 70, "it nests deeper than 64 levels"),
        ('{"a":' * 70 + "1" + "}" * 70, "it nests deeper than 64 levels"),
        ("9" * 5000, "it has an integer of more than 4,300 digits"),
        (b"\xff\xfe\x00", "it is not valid JSON, or was truncated or altered"),
        (b"\x80\x04\x95cos\nsystem\n", "it is not valid JSON, or was truncated or altered"),
    ],
)
def test_files_that_are_no_model_are_refused(content: str | bytes, complaint: str, tmp_path: Path) -> None:
    assert complaint in refusal(tmp_path / "m.json", content)


def test_a_file_cut_short_is_refused(text: str, tmp_path: Path) -> None:
    for share in (0.1, 0.5, 0.9, 0.999):
        assert "truncated" in refusal(tmp_path / "m.json", text[: int(share * len(text))])


def test_absent_and_huge_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelFileError, match=r"nothing.json cannot be read: No such file"):
        load_model(tmp_path / "nothing.json")
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        load_model(tmp_path)
    monkeypatch.setattr("separatrix.codec.MAX_BYTES", 10)
    assert ", the limit" in refusal(tmp_path / "m.json", " " * 11)
    monkeypatch.setattr("separatrix.codec.MAX_VALUES", 5)
    monkeypatch.setattr("separatrix.codec.MAX_BYTES", 1000)
    assert "it has more than 5 values" in refusal(tmp_path / "m.json", "[1, 2, 3, 4, 5, 6]")


def test_a_malformed_certificate_is_named_when_it_is_read(model: Model) -> None:
    given = dict(model.certificate or {})
    for changes, complaint in (
        ({}, "malformed certificate: statement.loss is missing"),
        ({"statement": 3}, "malformed certificate: statement is 3; an object is needed"),
        (
            {"data": {**given["data"], "rows": -1}},
            "malformed certificate: data.rows is -1; a whole number of at least 0",
        ),
        ({"format": 1}, "the certificate was made by an older release; fit again"),
    ):
        with pytest.raises(CertificateError, match=f"^{re.escape(complaint)}"):
            replace(model, certificate={**given, **changes}).evidence()
    with pytest.raises(CertificateError, match="this model has no certificate"):
        replace(model, certificate=None).evidence()


def test_models_that_do_not_fit_together_cannot_be_made(model: Model) -> None:
    with pytest.raises(ValueError, match="coef has shape"):
        replace(model, coef=np.zeros((1, 2)))
    with pytest.raises(ValueError, match="a coefficient is not finite"):
        replace(model, intercept=np.asarray([np.inf]))


# Corruption


def mutated_value(draw: random.Random, value: Any) -> Any:
    """Return JSON with one value in it, anywhere, replaced, dropped or repeated."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutated_value(draw, value[key])}
    if isinstance(value, list) and value and draw.random() < 0.9:
        place = draw.randrange(len(value))
        if draw.random() < 0.15:
            return value[:place] + value[place + 1 :] + draw.choice([[], [value[place]] * 2])
        return [*value[:place], mutated_value(draw, value[place]), *value[place + 1 :]]
    odd = [None, True, -1, 0, 1e308, -1e-308, 10**30, 10**400, "", "x", [], {}, [[]], {"a": 1}, "\ud800", 0.5]
    return draw.choice(odd)


def corrupted(draw: random.Random, text: str) -> bytes:
    content = bytearray(text.encode())
    kind = draw.randrange(4)
    if kind == 0:
        return bytes(content[: draw.randrange(len(content))])
    if kind == 1:
        return json.dumps(mutated_value(draw, json.loads(text))).encode()
    if kind == 2:
        start = draw.randrange(len(content))
        del content[start : start + draw.randrange(1, 50)]
        return bytes(content)
    for _ in range(draw.randrange(1, 4)):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def test_every_one_of_a_thousand_corruptions_is_refused_by_name(text: str, tmp_path: Path) -> None:
    draw, path, refusals = random.Random(11), tmp_path / "m.json", 0
    for _ in range(1000):
        content = corrupted(draw, text)
        if content == text.encode() or b'"checksum"' not in content[-100:]:
            continue  # cut off with the checksum: the next test
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=re.escape(str(path))):
            load_model(path)
        refusals += 1
    assert refusals > 600


def test_a_digit_changed_is_told_and_a_file_without_a_checksum_is_taken(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    data = json.loads(text)
    path.write_text(json.dumps({**data, "intercept": [data["intercept"][0] + 1.0]}), encoding="utf-8")
    with pytest.raises(ModelFileError, match="its checksum is another, so it was damaged or altered"):
        load_model(path)
    del data["checksum"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert load_model(path).estimator == data["estimator"]
    path.write_text(text.replace('"checksum"', '"chfcksum"'), encoding="utf-8")
    with pytest.raises(ModelFileError, match="chfcksum is unknown; did you mean 'checksum'"):
        load_model(path)


@pytest.mark.slow
def test_a_thousand_corruptions_without_a_checksum_load_or_are_refused_by_name(text: str, tmp_path: Path) -> None:
    data = json.loads(text)
    del data["checksum"]
    text = json.dumps(data)
    draw, path, table = random.Random(7), tmp_path / "m.json", mixed_table(3, n=5, text=True)
    loaded = 0
    for _ in range(1000):
        path.write_bytes(corrupted(draw, text))
        try:
            model = load_model(path)
        except ModelFileError as refused:
            assert str(path) in str(refused)  # noqa: PT017
        else:
            loaded += 1
            assert len(model.predict(table, allow_absent=True).labels) == 5 or model.encoding.missing != "impute"
    assert 20 < loaded < 500


# Writing


def test_a_file_is_written_whole_or_not_at_all(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    path.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OptionError, match=r"model.json cannot be written: No space left on device"):
            save_model(model, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(OptionError, match="is not a regular file"):
        save_model(model, tmp_path)
    with pytest.raises(OptionError, match="cannot be written: there is no folder"):
        save_model(model, tmp_path / "no" / "model.json")


def test_permissions_and_links_are_kept(model: Model, tmp_path: Path) -> None:
    path, link = tmp_path / "model.json", tmp_path / "link.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    save_model(model, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert load_model(path).target == "y"


WRITER = """
import sys
from pathlib import Path
from separatrix.files import write_atomically as write_whole  # what save_model writes with
texts = [Path(name).read_text(encoding="utf-8") for name in sys.argv[2:]]
print("ready", flush=True)
while True:
    for text in texts:
        write_whole(sys.argv[1], text)
"""


def test_a_writer_killed_at_any_moment_leaves_the_old_file_or_the_new(text: str, tmp_path: Path) -> None:
    path, draw = tmp_path / "model.json", random.Random(3)
    plain = {key: value for key, value in json.loads(text).items() if key != "checksum"}
    texts = [text, json.dumps({**plain, "summary": {"long": "x" * 2_000_000}})]
    for place, each in enumerate(texts):
        (tmp_path / f"{place}.json").write_text(each, encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", WRITER, str(path), str(tmp_path / "0.json"), str(tmp_path / "1.json")]
    for _ in range(10):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            time.sleep(draw.uniform(0.0, 0.05))
            writer.send_signal(signal.SIGKILL)
        assert path.read_text(encoding="utf-8") in texts
        assert load_model(path).target == "y"


def test_json_values_make_the_model_again(model: Model) -> None:
    assert model_from_dict(json.loads(json.dumps(model_to_dict(model)))).encoding == model.encoding


def test_what_is_no_model_is_refused_by_its_name(tmp_path) -> None:
    with pytest.raises(OptionError, match="an object of type dict is no model; give what"):
        save_model({}, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
