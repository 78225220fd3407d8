"""Columns to features and back: decisions alike in training and later, and what is counted in an odd table."""

from __future__ import annotations

import inspect
import json
import time
from typing import Any, get_args

import numpy as np
import pytest
from data import DATA, needs_data
from made_models import mixed_table

from separatrix.codec import read, write
from separatrix.design.encode.base import ColumnEncoding
from separatrix.design.encode.encoding import AnyColumn, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.design.encode.text import bucket_of, words_of
from separatrix.errors import DataError, ModelFileError, OptionError
from separatrix.tables.table import Column, Table, category_column, unique_names

NAN = np.nan
KINDS: dict[str, type[ColumnEncoding]] = {kind.kind: kind for kind in get_args(get_args(AnyColumn)[0])}


def number(name: str, *values: float) -> Column:
    return Column(name, "number", np.asarray(values, dtype=float))


def words(name: str, *cells: str | None) -> Column:
    return category_column(name, cells)


def text(name: str, *cells: str | None) -> Column:
    return Column(name, "text", np.asarray(cells, dtype=object))


def table(*columns: Column) -> Table:
    rows = len(columns[0].values)
    return Table((*columns, number("y", *range(rows))), "made")


def plan(*columns: Column, **options: Any) -> Encoding:
    return plan_encoding(table(*columns), "y", **options)


def matrix(encoding: Encoding, *columns: Column) -> list[list[float]]:
    X = encoding.apply(table(*columns)).X
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X).tolist()


# Kinds


def test_a_number_is_itself_and_a_gap_the_mean_with_a_mark() -> None:
    column = number("age", 20.0, NAN, 40.0, 60.0)
    encoding = plan(column)
    assert encoding.feature_names == ("age", "age is missing")
    assert matrix(encoding, column) == [[20.0, 0.0], [40.0, 1.0], [40.0, 0.0], [60.0, 0.0]]
    assert encoding.decisions() == (
        "'age' is a number, used as it is; 1 missing cell is filled with the mean 40 and marked by 'age is missing'",
    )


def test_a_gap_that_training_had_none_of_is_filled_and_counted() -> None:
    encoding = plan(number("age", 20.0, 40.0))
    encoded = encoding.apply(table(number("age", NAN, 1.0)))
    assert encoding.feature_names == ("age",)
    assert encoded.X.tolist() == [[30.0], [1.0]]
    assert encoded.reports[0].sentences == ("column 'age': 1 cell of 2 missing",)


def test_a_truth_value_is_named_by_its_second_word() -> None:
    column = Column("bought", "boolean", np.asarray([0.0, 1.0, 1.0, NAN]), ("no", "yes"))
    encoding = plan(column)
    assert encoding.feature_names == ("bought=yes", "bought is missing")
    assert matrix(encoding, column) == [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    assert "filled with the more frequent 'yes'" in encoding.decisions()[0]


def test_a_category_is_set_against_its_most_frequent_level() -> None:
    column = words("cut", "Good", "Fair", "Good", None, "Ideal")
    encoding = plan(column)
    assert encoding.feature_names == ("cut=Fair", "cut=Ideal", "cut=(missing)")
    assert matrix(encoding, column) == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]]
    said = "'cut' is a category with 3 levels; the reference level is 'Good', the most frequent; 1 missing cell is"
    assert encoding.decisions()[0].startswith(said)


def test_the_reference_can_be_chosen_and_must_be_a_level() -> None:
    column = words("cut", "Good", "Fair", "Good")
    encoding = plan(column, reference={"cut": "Fair"})
    assert encoding.feature_names == ("cut=Good",)
    assert encoding.decisions() == ("'cut' is a category with 2 levels; the reference level is 'Fair'",)
    with pytest.raises(OptionError, match="'cut' has no level 'Fare'; did you mean 'Fair'"):
        plan(column, reference={"cut": "Fare"})
    with pytest.raises(OptionError, match="'x' is a number, which has no reference level"):
        plan(number("x", 1, 2, 3), reference={"x": "1"})


def test_a_new_level_is_the_reference_and_counted_by_word() -> None:
    encoding = plan(words("cut", "Good", "Fair", "Good"))
    encoded = encoding.apply(table(words("cut", "new", "new", "Fair", "odd")))
    assert encoded.X.tolist() == [[0.0], [0.0], [1.0], [0.0]]
    assert encoded.reports[0].new_levels == {"new": 2, "odd": 1}
    assert encoded.reports[0].sentences == ("column 'cut': 2 new levels in 3 rows: 'new', 'odd'",)


def test_a_missing_category_without_a_level_of_its_own_is_the_reference() -> None:
    encoding = plan(words("cut", "Good", "Fair", "Good"))
    encoded = encoding.apply(table(words("cut", None, "Fair")))
    assert encoded.X.tolist() == [[0.0], [1.0]]
    assert encoded.reports[0].missing == 1


def test_the_rarest_levels_are_merged_only_beyond_the_limit_and_if_two() -> None:
    column = words("city", "a", "a", "a", "b", "b", "c", "d", None)
    assert plan(column, max_levels=3).feature_names == ("city=b", "city=c", "city=d", "city=(missing)")
    merged = plan(column, max_levels=2)
    assert merged.feature_names == ("city=b", "city=(other)", "city=(missing)")
    assert "the 2 rarest, with at most 1 row each, share the level '(other)'" in merged.decisions()[0]
    assert matrix(merged, words("city", "c", "never seen", "a", None)) == [[0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_a_level_called_missing_is_told_from_the_gaps() -> None:
    column = words("x", "(missing)", "a", None, "(other)", "a", "b")
    names = plan(column, max_levels=3).feature_names
    assert names == ("x=(missing)", "x=(other)", "x=b", "x=((missing))")


def test_a_date_is_in_days_since_the_first() -> None:
    column = Column("since", "date", np.asarray([18262.0, 18263.5, NAN]))
    encoding = plan(column)
    assert encoding.feature_names == ("since (days since 2020-01-01)", "since is missing")
    assert matrix(encoding, column) == [[0.0, 0.0], [1.5, 0.0], [0.75, 1.0]]
    assert matrix(encoding, text("since", "2020-01-11", "2020-01-02 12:00:00")) == [[10.0, 0.0], [1.5, 0.0]]


def test_text_is_hashed_tf_idf_of_length_one() -> None:
    column = text("say", "free prize", "Free, FREE lunch!", "lunch", None)
    encoding = plan(column, text=["say"])
    assert set(encoding.feature_names) == {"say: free", "say: lunch", "say is missing"}
    X = np.asarray(matrix(encoding, column))
    free, lunch, gap = (encoding.feature_names.index(f"say{end}") for end in (": free", ": lunch", " is missing"))
    idf = np.log(5 / 3) + 1.0
    expected = np.asarray([2.0, 1.0]) * idf / np.hypot(2.0 * idf, idf)
    np.testing.assert_allclose(X[1, [free, lunch]], expected, rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0, rtol=1e-15)
    assert X[3, gap] == 1.0


def test_buckets_are_the_same_everywhere() -> None:
    assert words_of("Don't PANIC, straße_1") == ["don", "t", "panic", "strasse_1"]
    assert bucket_of("123456789", 2**32) == 0xCBF43926  # the check value of every CRC-32
    assert bucket_of("straße", 2**18) == bucket_of("straße", 2**20) % 2**18


# What is left out


def test_columns_are_left_out_with_the_reason() -> None:
    columns = (
        number("one", 5, 5, 5),
        number("none", NAN, NAN, NAN),
        Column("id", "id", np.asarray(["a1", "b2", "c3"], dtype=object), reason="a different word in each row"),
        text("said", "a b", "b c", "c d"),
        words("same", "x", "x", "x"),
        number("gone", 1, 2, 3),
        number("used", 1, 2, 3),
    )
    encoding = plan(*columns, drop=["gone"])
    assert encoding.feature_names == ("used",)
    assert dict(encoding.omitted) == {
        "one": "it is 5 in every row",
        "none": "every cell is missing",
        "id": "a different word in each row",
        "said": "it is text; --text said uses its words",
        "same": "it is 'x' in every row",
        "gone": "as requested",
    }
    assert "'one' is left out: it is 5 in every row" in encoding.decisions()


def test_a_constant_with_gaps_leaves_its_gaps() -> None:
    column = number("one", 5, NAN, 5)
    encoding = plan(column)
    assert encoding.feature_names == ("one is missing",)
    assert matrix(encoding, column) == [[0.0], [1.0], [0.0]]
    assert encoding.decisions() == ("'one' is 5 wherever it is not missing, so only 'one is missing' is used",)


def test_nothing_left_is_refused_with_the_reasons() -> None:
    with pytest.raises(DataError, match="no column left to predict 'y' from; 'one' is left out: it is 5 in every row"):
        plan(number("one", 5, 5))


@pytest.mark.parametrize(
    ("options", "words_of_refusal"),
    [
        ({"drop": ["agee"]}, "no column 'agee'; did you mean 'age'"),
        ({"drop": ["y"]}, "'y' is the target"),
        ({"missing": "fill"}, "missing='fill' is not one of 'auto', 'impute', 'drop', 'error'"),
        ({"max_levels": 0}, "max_levels=0 is out of range"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words_of_refusal: str) -> None:
    with pytest.raises((DataError, OptionError), match=words_of_refusal):
        plan(number("age", 1, 2), **options)


def test_infinity_is_refused_in_training_and_counted_later() -> None:
    with pytest.raises(DataError, match=r"column 'age': 1 infinite value, first in row 1 \(counted from 0\)"):
        plan(number("age", 1, np.inf))
    encoded = plan(number("age", 1, 3)).apply(table(number("age", 1, -np.inf)))
    assert encoded.X.tolist() == [[1.0], [2.0]]
    assert encoded.reports[0].sentences == ("column 'age': 1 cell of the wrong type, first '-inf', counted as missing",)


# Policies


def test_dropped_rows_are_those_with_a_gap_in_a_column_that_is_used() -> None:
    columns = (
        number("a", 1, NAN, 3, 4),
        words("b", "x", "z", None, "x"),
        number("c", NAN, 7, 7, 7),
        number("d", 1, 2, 3, 5),
    )
    encoding = plan(*columns, missing="drop", drop=["c"])
    encoded = encoding.apply(table(*columns))
    assert encoding.feature_names == ("a", "d")
    assert dict(encoding.omitted) == {"c": "as requested", "b": "it is 'x' in every row"}
    assert encoded.kept.tolist() == [True, False, True, True]
    assert encoded.X.tolist() == [[1.0, 1.0], [3.0, 3.0], [4.0, 5.0]]
    with pytest.raises(DataError, match="every row has a missing cell"):
        plan(number("a", 1, NAN, 2, NAN), number("b", NAN, 1, NAN, 2), missing="drop")


def test_gaps_can_be_refused() -> None:
    encoding = plan(number("a", 1, 2), number("b", 1, 2), missing="error")
    with pytest.raises(DataError, match="column 'a' is missing in 1 row \\(and in 1 more column\\); fill them in"):
        encoding.apply(table(number("a", NAN, 2), number("b", NAN, 2)))


# Other kinds than in training


def test_numbers_read_as_words_are_understood_and_the_rest_counted() -> None:
    encoding = plan(number("age", 20, 40))
    encoded = encoding.apply(table(words("age", "25", "old", "1e2", None)))
    assert encoded.X.tolist() == [[25.0], [30.0], [100.0], [30.0]]
    report = encoded.reports[0]
    assert (report.missing, report.wrong, report.first_wrong) == (1, 1, "old")


def test_words_read_as_numbers_are_understood() -> None:
    encoding = plan(words("code", "1", "2", "1", "2.5"))
    assert matrix(encoding, number("code", 1, 2, 2.5, 9)) == [[0, 0], [1, 0], [0, 1], [0, 0]]


def test_truth_values_in_other_words_are_understood() -> None:
    encoding = plan(Column("b", "boolean", np.asarray([0.0, 1.0]), ("no", "yes")))
    assert matrix(encoding, words("b", "true", "0", "yes", "no")) == [[1.0], [0.0], [1.0], [0.0]]
    assert matrix(encoding, Column("b", "boolean", np.asarray([1.0, 0.0]), ("false", "true"))) == [[1.0], [0.0]]
    assert encoding.apply(table(words("b", "maybe"))).reports[0].wrong == 1


def test_an_absent_column_counts_as_missing_everywhere() -> None:
    encoding = plan(number("a", 1, 3), words("b", "x", "z"))
    encoded = encoding.apply(Table((number("a", 5, 6),), "later"))
    assert encoded.X.tolist() == [[5.0, 0.0], [6.0, 0.0]]
    assert encoded.reports[1].sentences == ("column 'b' is not in the table; all 2 rows count as missing",)


def test_cells_that_the_reader_refused_are_counted_once_over_blocks() -> None:
    encoding = plan(number("a", 1, 3))
    block = Column("a", "number", np.asarray([NAN, 2.0]), invalid=1, first_invalid="x7")
    clean = Column("a", "number", np.asarray([NAN, 2.0]), invalid=1, first_invalid="x7")
    report = encoding.apply(table(block)).reports[0] + encoding.apply(table(clean)).reports[0]
    assert (report.rows, report.missing, report.wrong, report.first_wrong) == (4, 1, 1, "x7")


# The matrix


def test_sparse_and_dense_matrices_are_equal_and_blocks_add_up() -> None:
    made = mixed_table(0, n=700, text=True)
    encoding = plan_encoding(made, "y", text=["message"])
    dense = encoding.apply(made).X
    sparse = Encoding(encoding.columns, sparse=True).apply(made).X
    assert sparse.format == "csr"
    assert sparse.has_sorted_indices
    assert (sparse.toarray() == dense).all()
    halves = [Table(tuple(_cut(c, part) for c in made.columns), "m") for part in (slice(0, 300), slice(300, 700))]
    assert (np.vstack([encoding.apply(half).X for half in halves]) == dense).all()


def _cut(column: Column, rows: slice) -> Column:
    return Column(column.name, column.kind, column.values[rows], column.levels)


def test_many_levels_are_stored_sparsely() -> None:
    rng = np.random.default_rng(0)
    column = words("city", *(f"c{k}" for k in rng.integers(0, 400, 3000)))
    encoding = plan(column)
    assert encoding.sparse
    assert "are stored as a sparse matrix" in encoding.decisions()[-1]
    assert encoding.apply(table(column)).X.format == "csr"


def test_names_are_made_unique() -> None:
    assert unique_names(["a", "b", "a", "a_2", "a"]) == ("a", "b", "a_3", "a_2", "a_4")
    encoding = plan(number("a=x", 1, 2, 3), words("a", "z", "x", "z"))
    assert encoding.feature_names == ("a=x", "a=x_2")


# JSON


def test_every_kind_is_one_of_the_union() -> None:
    def concrete(kind: type[ColumnEncoding]) -> set[type[ColumnEncoding]]:
        below = {each for child in kind.__subclasses__() for each in concrete(child)}
        return below if inspect.isabstract(kind) else {kind, *below}

    assert concrete(ColumnEncoding) == set(KINDS.values())


def test_json_gives_the_encoding_back() -> None:
    made = mixed_table(2, text=True)
    encoding = plan_encoding(made, "y", text=["message"])
    again = read(Encoding, json.loads(json.dumps(write(encoding))))
    assert again == encoding
    assert (again.apply(made).X == encoding.apply(made).X).all()
    assert {column.kind for column in encoding.columns} == set(KINDS) - {"presence"}


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("columns", 0, "kind"), "nmber", "columns[0].kind is \"nmber\"; did you mean 'number'"),
        (("columns", 0, "fill"), "3", 'columns[0].fill is "3"; a finite number is needed'),
        (("columns", 0, "fill"), True, "columns[0].fill is true; a finite number is needed"),
        (
            ("columns", 0, "fill"),
            10**400,
            "columns[0].fill is an integer beyond every float; a finite",
        ),
        (("columns", 0, "features"), ["age"], "columns[0].features does not agree with the values beside it"),
        (
            ("columns", 2, "levels"),
            ["a", "a"],
            'columns[2].levels[1] is "a"; a distinct entry',
        ),
        (("columns", 2, "reference"), "zzz", "columns[2]: reference is 'zzz', which is not among the levels"),
        (("columns", 1, "levels"), ["no"], "columns[1].levels has 1 entries; 2 are needed"),
        (("columns", 3, "origin"), 1.5, "columns[3].origin is 1.5; a whole number is needed"),
        (("missing",), "fill", "missing is \"fill\"; known: 'impute', 'drop', 'error'"),
        (("columns",), [], "columns has 0 entries; at least 1 are needed"),
        (("columns",), 7, "columns is 7; a list is needed"),
    ],
)
def test_altered_encodings_are_refused_with_the_place(place: tuple[Any, ...], value: Any, complaint: str) -> None:
    data = write(plan_encoding(mixed_table(2), "y"))
    inner: Any = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(ModelFileError) as refused:
        read(Encoding, data)
    assert complaint in str(refused.value)


@needs_data
def test_messages_are_encoded_in_a_moment() -> None:
    import duckdb

    path = str(DATA / "classification" / "sms_spam.parquet")
    rows = duckdb.connect().execute("SELECT label, text FROM read_parquet($path)", {"path": path}).fetchall()
    labels, messages = zip(*rows, strict=True)
    sms = Table((words("label", *labels), text("text", *messages)), "sms")
    began = time.process_time()
    encoding = plan_encoding(sms, "label", text=["text"])
    X = encoding.apply(sms).X
    assert time.process_time() - began < 2.0
    assert X.shape[0] == 5574
    assert X.shape[1] == len(encoding.feature_names) > 4000
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)).max(), 1.0, rtol=1e-12)
