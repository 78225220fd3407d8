"""Progress in Python: on request, after a second, on one line that is erased."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.fit import progress


def fitted() -> sx.Perceptron:
    X = np.random.default_rng(0).normal(size=(200, 3))
    return sx.Perceptron(max_passes=20).fit(X, np.arange(200) % 2)


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_nothing_is_shown_unless_asked_for_and_nothing_before_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    fitted()
    with sx.progress():
        sx.train("demo:five-points")
    assert capsys.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_a_long_fit_shows_its_passes_and_erases_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    with sx.progress():
        coef = fitted().coef_
        sx.check_separability(np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 2)
    out, err = capsys.readouterr()
    lines = err.split("\r")
    assert out == ""
    assert "1 passes, " in lines[1]
    assert lines[1].endswith(" updates")
    assert any(line.startswith("20 passes") for line in lines)
    assert (lines[-2].strip(), lines[-1]) == ("", "")
    assert np.array_equal(coef, fitted().coef_)
    assert capsys.readouterr() == ("", "")  # outside the block
