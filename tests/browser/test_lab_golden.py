"""The law of the lab in Chromium: the page's own modules repeat the library's golden traces there, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from separatrix.lab import assemble

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent.parent / "golden" / "lab"
ENTRIES = ("core/derive.js", "core/points.js", "core/learners.js", "core/verdict.js")
COMPARE = """
([cases, sets, kind]) => {
  const float = (text) => {
    const [, sign, whole, part, power] = /^(-?)0x([01])(?:\\.([0-9a-f]+))?p([+-]\\d+)$/.exec(text);
    const size = Number(BigInt("0x" + whole + (part ?? "").padEnd(13, "0")));
    const exponent = Number(power) - 52;
    const value = exponent < -1000 ? size * 2 ** -1000 * 2 ** (exponent + 1000) : size * 2 ** exponent;
    return sign ? -value : value;
  };
  const rows = (points) => points.map(([a, b, label]) => [typeof a === "string" ? float(a) : a, typeof b === "string" ? float(b) : b, label]);
  const bad = [];
  for (const each of cases) {
    const points = lab.makePoints(rows(each.points ?? sets[each.data]));
    if (kind === "verdicts") {
      [true, false].forEach((intercept, k) => {
        const found = lab.judge(points, intercept).kind.replace("one class", "separable");
        if (each.verdicts[k][0] !== "undecided" && found !== each.verdicts[k][0]) bad.push([each, found]);
      });
      continue;
    }
    const { kind: learner, draws, start, ...options } = each.learner;
    const settings = lab.defaults(learner, options);
    if (draws) settings.draws = Int32Array.from(draws);
    if (start) settings.start = settings.intercept ? start : start.slice(-2);
    const run = lab.derive(points, settings);
    while (!lab.advance(run, 1000));
    const expected = kind === "perceptron" ? Object.fromEntries(each.weights.map((w, k) => [k + 1, w])) : each.steps;
    for (const [step, weights] of Object.entries(expected)) {
      if (each.learner.keep === "average" || Number(step) > run.trace.updates) continue;
      const found = Array.from(lab.weightsAt(run.trace, Number(step)));
      const exact = kind !== "logistic";
      const fits = (value, k) => (exact ? value === float(weights[k]) : Math.abs(value - weights[k]) <= 1e-9 * Math.max(1, ...weights.map(Math.abs)));
      if (found.length !== weights.length || !found.every(fits)) bad.push([each.data, each.learner, step, found, weights]);
    }
  }
  return bad.slice(0, 3);
}
"""  # noqa: E501  # JavaScript


@pytest.mark.parametrize("kind", ["perceptron", "lms", "logistic", "verdicts"])
def test_golden_traces_hold_in_the_browser(browser: Any, kind: str) -> None:
    done: dict[str, bool] = {}
    modules = "\n".join(part for entry in ENTRIES for part in assemble._modules(entry, done))
    names = ", ".join(f"...${entry.removesuffix('.js').replace('/', '_')}" for entry in ENTRIES)
    sets = {each["name"]: each["points"] for each in json.loads((GOLDEN / "data.json").read_text())}
    page = browser.new_page()
    try:
        page.add_script_tag(content=f'"use strict";\n{modules}\nwindow.lab = {{ {names} }};')
        cases = json.loads((GOLDEN / f"{kind}.json").read_text())
        assert page.evaluate(COMPARE, [cases, sets, kind]) == []
    finally:
        page.close()
