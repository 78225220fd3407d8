"""A user's own table: any columns, or components; sampled to be drawn, fitted whole."""

import numpy as np
import pytest

from separatrix.errors import DataError, OptionError
from separatrix.lab.session import actions
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import LEARNERS
from separatrix.lab.session.permalink import from_token, to_token
from separatrix.lab.session.points import MOST_DRAWN
from separatrix.lab.session.state import first_state
from separatrix.lab.session.table import LARGEST_NUMBER, TableData, left_out, table_data, table_points
from separatrix.lab.session.verdict import verdict_of
from separatrix.lab.session.views.input_space import input_space
from separatrix.lab.session.views.lifted import lifted
from separatrix.lab.session.views.progress import progress
from separatrix.lab.session.views.status import status_line
from separatrix.tables import Column, Table, category_column, demo_table


@pytest.fixture(scope="module")
def iris():
    return table_data(demo_table("iris"))


def big(n=50_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    codes = (X @ [1.0, 2.0, -1.0, 0.5] + 0.3 * rng.normal(size=n) > 0).astype(np.int64)
    return TableData("big", ("a", "b", "c", "d"), X, "label", ("no", "yes"), codes)


def test_a_table_begins_with_two_columns_and_takes_any(iris):
    state = actions.load_table(first_state(), iris)
    assert state.points.names == iris.names[:2]
    assert state.points.labels == ("the rest", "virginica")
    state = actions.choose_columns(state, ("petal_width", "petal_length", "sepal_length"), positive="setosa")
    assert state.points.X.shape == (150, 3)
    assert state.points.labels == ("the rest", "setosa")
    assert verdict_of(state, 0).kind == "separable"
    assert history_of(state.points, state.panes[0]).whole().status == "converged"
    assert status_line(actions.seek(state, 500), 0).wrong == 0


def test_three_columns_are_drawn_with_their_plane(iris):
    state = actions.load_table(first_state(), iris)
    state = actions.choose_columns(state, ("petal_width", "petal_length", "sepal_length"), positive="setosa")
    view = lifted(actions.seek(state, 500), 0)
    assert [axis.name for axis in view.axes] == ["petal_width", "petal_length", "sepal_length"]
    assert (view.note, view.flat, len(view.u)) == ("", False, 150)
    assert len(view.plane) >= 3
    assert input_space(state, 0).note == "sepal_length held at its mean"


def test_components_are_those_of_the_standardised_columns(iris):
    points = table_points(iris, iris.names, "setosa", 2)
    scaled = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled / 150)
    for column, vector in enumerate(vectors[:, ::-1].T[:2]):
        assert np.abs(points.X[:, column]) == pytest.approx(np.abs(scaled @ vector), abs=1e-9)
    share = values[-1] / values.sum()
    assert points.names[0] == f"component 1 ({100 * share:.0f} %)"
    assert points == table_points(iris, iris.names, "setosa", 2)


def test_rows_with_gaps_are_left_out_and_keep_their_numbers():
    a = Column("a", "number", np.array([1.0, np.nan, 3.0, 4.0]))
    b = Column("b", "number", np.array([1.0, 2.0, np.nan, 0.0]))
    label = category_column("label", ["x", "y", "x", "y"])
    data = table_data(Table((a, b, label), "gaps"), "label")
    assert table_points(data, ("a", "b"), "y").ids.tolist() == [0, 3]
    assert table_points(data, ("a",), "y").ids.tolist() == [0, 2, 3]
    unknown = category_column("label", ["x", None, "x", "y"])
    assert table_data(Table((a, unknown), "gaps"), "label").X.ravel().tolist() == [1.0, 3.0, 4.0]


def test_rows_left_out_are_counted_with_the_reason():
    a = Column("a", "number", np.array([1.0, np.nan, 3.0, 4.0, np.inf, np.nan, 0.0]))
    b = Column("b", "number", np.array([1.0, 2.0, np.nan, 0.0, 0.0, np.inf, 1.0]))
    label = category_column("label", ["x", "y", "x", "y", "x", "y", None])
    data = table_data(Table((a, b, label), "gaps"), "label")
    assert left_out(data, ("a",)) == "1 row without 'label', 2 rows without 'a', 1 row with an infinite 'a'"
    assert left_out(data, ("a", "b")) == (
        "1 row without 'label', 3 rows without 'a' or 'b', 1 row with an infinite 'a'"
    )
    assert len(table_points(data, ("a", "b"), "y")) == 7 - 1 - 3 - 1
    whole = Table((a, b, label), "gaps").select(np.isin(np.arange(7), (0, 3)))
    assert left_out(table_data(whole, "label"), ("a", "b")) == ""


@pytest.mark.parametrize(
    ("size", "power"), [(2e300, "1e\\+300"), (1.5 * LARGEST_NUMBER, "1e\\+25"), (3e-310, "1e-310")]
)
def test_numbers_whose_products_are_no_floats_are_refused_by_column(size, power):
    X = np.column_stack([np.arange(4.0), [0.5 * size, -size, 0.0, 0.1 * size]])
    data = TableData("t", ("a", "b"), X, "label", ("n", "y"), np.array([0, 1, 0, 1]))
    message = f"column 'b' has numbers up to .*, whose products leave .*; divide the column by {power} first"
    with pytest.raises(DataError, match=message):
        actions.load_table(first_state(), data)
    assert len(table_points(data, ("a",), "y")) == 4


@pytest.mark.parametrize("learner", LEARNERS)
def test_numbers_as_large_as_can_be_are_judged_and_learned_from(learner):
    rng = np.random.default_rng(0)
    X = np.column_stack([0.3 * LARGEST_NUMBER * rng.normal(size=30), rng.normal(size=30)])
    data = TableData("t", ("a", "b"), X, "label", ("n", "y"), (rng.random(30) > 0.5).astype(np.int64))
    chosen = {"learner": learner, "feature_map": "polynomial", "degree": 6, "max_steps": 20}
    state = actions.set_option(actions.load_table(first_state(), data), 0, **chosen)
    assert verdict_of(state, 0).headline
    assert status_line(actions.seek(state, 20), 0).words


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (("petal_widt",), {}, "there is no column of numbers 'petal_widt'; did you mean 'petal_width'"),
        ((), {}, "give 1 to 16 different columns; got none"),
        (("petal_width", "petal_width"), {}, "different columns"),
        (("petal_width",), {"positive": "rose"}, "'species' has no class 'rose'"),
        (("petal_width",), {"components": 2}, "2 components of 1 columns cannot be had"),
    ],
)
def test_columns_that_are_not_there_are_named(iris, columns, options, message):
    state = actions.load_table(first_state(), iris)
    with pytest.raises(OptionError, match=message):
        actions.choose_columns(state, columns, **options)


def test_tables_that_cannot_be_used_are_refused():
    number = Column("a", "number", np.arange(60.0))
    words = category_column("word", ["x"] * 60)
    with pytest.raises(OptionError, match="say which column is the target"):
        table_data(Table((number,), "one"))
    with pytest.raises(DataError, match="has 60 different values; the lab takes 2 to 50 classes"):
        table_data(Table((number, words), "t"), "a")
    with pytest.raises(DataError, match="has 1 different value; the lab takes 2 to 50 classes"):
        table_data(Table((number, words), "t"), "word")
    two = category_column("two", ["x", "y"] * 30)
    with pytest.raises(DataError, match="no column of numbers beside the target 'two'"):
        table_data(Table((words, two), "t"), "two")
    with pytest.raises(DataError, match="has no column 'thre'"):
        table_data(Table((words, two), "t"), "thre")


def test_many_rows_are_sampled_to_be_drawn_and_fitted_whole():
    data = big()
    state = actions.choose_columns(actions.load_table(first_state(), data), data.names)
    state = actions.set_option(state, 0, learner="logistic_newton")
    history = history_of(state.points, state.panes[0])
    assert history.whole().status == "converged"
    view = input_space(actions.seek(state, 10), 0)
    assert len(view.x) == len(view.id) == MOST_DRAWN
    assert history.setting.design.shape == (50_000, 5)
    scores = history.measure(100).scores
    assert scores.shape == (50_000,)
    gradient = np.column_stack([np.ones(50_000), data.X]).T @ (data.codes - 1.0 / (1.0 + np.exp(-scores)))
    assert np.abs(gradient).max() <= 0.05  # a sample's maximum would be off by hundreds
    assert len(progress(state, 0).steps) >= 1


def test_a_link_to_a_table_needs_the_table(iris):
    state = actions.choose_columns(actions.load_table(first_state(), iris), iris.names, components=3)
    state = actions.flip_point(state, 149)
    token = to_token(state)
    assert from_token(token, iris) == state
    with pytest.raises(DataError, match="of the table 'demo:iris', which is not open here"):
        from_token(token)
    with pytest.raises(DataError, match="which is not open here"):
        from_token(token, big(10))
