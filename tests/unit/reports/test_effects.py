"""The coefficients of a report: a forest plot that clips nothing, joint tests, and notes on absent cells."""

import math

import numpy as np
import pytest
import scipy.special

import separatrix as sx
from separatrix.model.train import TrainOptions, train_table
from separatrix.reports.effects import effect_sentence, make_forest
from separatrix.reports.pictures import sample_rows
from separatrix.reports.report import make_report, render_report
from separatrix.reports.scale import number_cell, ratio_ticks
from separatrix.tables.demos import demo_table
from separatrix.tables.table import Column, Table, category_column


def passengers(rows=400):
    """Rows of three berths and ages, where everyone in a lifeboat survived."""
    rng = np.random.default_rng(3)
    berth, age, boat = rng.integers(0, 3, rows), rng.gamma(9.0, 3.4, rows), np.arange(rows) % 50 == 0
    survived = boat | (rng.random(rows) < 1.0 / (1.0 + np.exp(0.8 * berth + 0.03 * age - 1.5)))
    return Table(
        (
            category_column("berth", [("first", "second", "third")[code] for code in berth]),
            Column("age", "number", age),
            category_column("lifeboat", ["yes" if value else "no" for value in boat]),
            category_column("survived", ["yes" if value else "no" for value in survived]),
        ),
        "passengers.csv",
        target="survived",
    )


def forest_of(table, **options):
    trained = train_table(table, TrainOptions(**options))
    return trained, make_forest(trained, table, sample_rows(trained, table))


@pytest.fixture(scope="module")
def separated():
    return forest_of(passengers())


def test_a_diverging_coefficient_has_its_profile_limit_and_a_note(separated):
    trained, forest = separated
    (effect,) = forest.diverging
    table = passengers()
    X = trained.model.encoding.apply(table).X
    y = np.array(table.column("survived").levels)[table.column("survived").values.astype(int)]
    intervals = sx.LogisticRegression(on_separation="ignore").fit(X, y).profile_intervals()
    limit = next(each for each in intervals if each.name == f"x{X.shape[1]}")
    assert (effect.name, effect.unit, effect.estimate) == ("lifeboat", "yes, against no", None)
    assert effect.lower == pytest.approx(limit.lower, rel=1e-6)
    assert effect.upper == limit.upper == math.inf
    (note,) = forest.notes
    assert effect.note == 1
    assert note.reason.startswith("all 8 rows with 'lifeboat = yes' have 'survived = yes', so the likelihood has no")
    end = number_cell(effect.lower, ratio=True)
    assert note.said == f"odds ratios below {end} are rejected (profile likelihood, 95 % confidence)"
    assert note.remedy.startswith("report that limit, or refit with --firth")
    reduced, finite = forest_of(passengers(), given={"bias_reduction": True})
    assert reduced.fitted.table.model == "firth"
    assert finite.diverging == []
    assert [(share.rows, share.own) for share in effect.shares] == [(8, 8), (392, trained.own.confusion[1].sum() - 8)]


def test_an_infinite_interval_that_excludes_1_counts_among_the_odds_ratios_that_differ(separated):
    trained, forest = separated
    excluded = sum(each.lower > 0.0 or each.upper < 0.0 for each in forest.effects)
    assert forest.diverging[0].lower > 0.0
    page = make_report(trained, passengers(), "separatrix fit passengers.csv")
    title = f"{excluded} of {len(forest.effects)} odds ratios differ from 1; 1 has no finite estimate"
    assert title in render_report(page)


def test_the_profile_grows_without_end_and_the_limit_is_where_it_is_half_a_quantile_below(separated):
    curve = separated[1].diverging[0].curve
    assert (np.diff(curve.logliks) > 0.0).all()
    assert curve.logliks[-1] < curve.supremum
    below = curve.supremum - float(np.interp(curve.limit, curve.values, curve.logliks))
    assert below == pytest.approx(scipy.special.chdtri(1, 0.05) / 2.0, abs=0.05)


def test_a_factor_has_a_joint_test(separated):
    trained, forest = separated
    group = forest.outputs[0][1][0]
    table = passengers()
    X = trained.model.encoding.apply(table).X
    codes = table.column("survived").values.astype(int)
    test = sx.LogisticRegression(on_separation="ignore").fit(X, codes).lr_test(["x1", "x2"])
    assert (group.label, len(group.effects)) == ("berth", 2)
    assert group.test == f"likelihood ratio χ²(2) = {test.chi2:.4g}"
    assert [effect.unit for effect in group.effects] == ["against second"] * 2


def test_a_factor_of_least_squares_has_an_f_test():
    table = demo_table("iris")
    lengths = Table(table.columns, "iris.csv", target="sepal_length")
    trained, forest = forest_of(lengths)
    group = next(group for group in forest.outputs[0][1] if group.label == "species")
    names = [name for name in trained.model.encoding.feature_names if name.startswith("species=")]
    wald = trained.fitted.inference.wald_test(names)
    assert group.test == f"F(2, 144) = {wald.f:.4g}"


def test_effects_are_per_standard_deviation():
    table = demo_table("iris")
    _, forest = forest_of(Table(table.columns[:3], "iris.csv", target="sepal_length"))
    effect = forest.effects[0]
    spread = float(np.std(table.column("sepal_width").values))
    assert effect.unit == "per 0.434 (1 SD)"
    assert effect.estimate == pytest.approx(spread * effect.term.estimate, rel=1e-9)
    assert effect.upper == pytest.approx(spread * effect.term.upper, rel=1e-9)


@pytest.mark.parametrize("table", ["breast-cancer", "iris", "students"])
def test_nothing_is_clipped(table):
    _, forest = forest_of(demo_table(table))
    places = [place for effect in forest.effects for place in effect.marks.values()]
    assert all(0.0 < place < 100.0 for place in [*places, forest.zero, *(place for place, _ in forest.ticks)])
    assert 3 <= len(forest.ticks) <= 9
    assert sorted(place for place, _ in forest.ticks) == [place for place, _ in forest.ticks]


def test_an_infinite_end_is_at_the_end_of_the_axis(separated):
    _, forest = separated
    (effect,) = forest.diverging
    assert forest.ticks[-1] == (effect.marks["upper"], "∞")
    finite = [effect.marks[end] for effect in forest.effects for end in ("lower", "estimate") if end in effect.marks]
    assert max(finite) < effect.marks["upper"] - 10.0


def test_the_sentence_names_the_columns_that_matter(separated):
    _, forest = separated
    said = "the odds of 'yes' rise with 'berth = first' and fall with 'berth = third' and 'age'"
    assert effect_sentence(forest, "'yes'", 0.95) == said
    rng = np.random.default_rng(0)
    noise = Table(tuple(Column(name, "number", rng.normal(size=50)) for name in "xy"), "noise.csv", target="y")
    assert effect_sentence(forest_of(noise)[1], "", 0.95) == "no 95 % confidence interval excludes an effect of 0"


def test_collinear_columns_have_notes_and_no_marks():
    rng = np.random.default_rng(1)
    x, y = rng.integers(40, 90, 60).astype(float), rng.normal(size=60)
    columns = (Column("kg", "number", x), Column("lb", "number", 2.5 * x), Column("age", "number", y**2))
    _, forest = forest_of(Table((*columns, Column("y", "number", y + x)), "twice.csv", target="y"))
    absent = forest.effects[:2]
    assert [(effect.name, effect.estimate, effect.note, effect.marks) for effect in absent] == [
        ("kg", None, 1, {}),
        ("lb", None, 2, {}),
    ]
    assert [note.remedy for note in forest.notes] == ["drop one of 'kg' and 'lb'", "drop one of 'lb' and 'kg'"]
    assert forest.effects[2].estimate is not None


def test_axes_have_round_ratios():
    labels = {
        (-0.7, 0.6): ["0.6", "0.8", "1", "1.2", "1.4", "1.6", "1.8"],
        (-0.8, 1.5): ["0.5", "1", "2", "4"],
        (-3.0, 4.0): ["0.0625", "0.25", "1", "4", "16"],
        (-40.0, 60.0): ["10⁻¹⁴", "10⁻⁷", "1", "10⁷", "10¹⁴", "10²¹"],
    }
    for (low, high), expected in labels.items():
        ticks = list(ratio_ticks(low, high))
        assert [label for _, label in ticks][: len(expected)] == expected
        assert all(low <= value <= high for value, _ in ticks)
        assert len(ticks) <= 7


def test_a_model_without_estimates_has_no_forest():
    table = demo_table("breast-cancer")
    assert forest_of(table, given={"strength": 0.0})[1] is None


def test_a_penalised_fit_has_stems_and_no_tests():
    _, forest = forest_of(demo_table("iris"))
    assert (forest.tested, forest.notes, forest.unit) == (False, (), "change of score")
    assert [output for output, _ in forest.outputs] == ["setosa", "versicolor", "virginica"]
    assert all(set(effect.marks) == {"estimate"} for effect in forest.effects)
