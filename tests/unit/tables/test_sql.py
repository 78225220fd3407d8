"""`where` and `sql`: what they see, and that they cannot reach anything but the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from separatrix.errors import DataError, OptionError
from separatrix.tables.open import read_table

TEXT = (
    "id;Größe;when;grade;flag;A;a\n"
    "1;1.234,5;31.12.2023;x;yes;1;7\n"
    "2;0,5;01.01.2024;y;no;2;8\n"
    "3;NA;02.01.2024;x;yes;3;9\n"
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "t.csv"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ('"Größe" > 1', ["1"]),
        ('"Größe" IS NULL', ["3"]),
        ("\"when\" >= DATE '2024-01-01'", ["2", "3"]),
        ("grade = 'x' AND flag = 'yes'", ["1", "3"]),
        ("A_1 = 2 -- a comment", ["2"]),
        ('"a_2" = 9', ["3"]),
        ("id IN (SELECT max(id) FROM t)", ["3"]),
    ],
)
def test_where_sees_typed_columns(source: str, where: str, ids: list[str]) -> None:
    table = read_table(source, where=where, kinds={"id": "id"})
    assert table.column("id").values.tolist() == ids
    assert table.names == ("id", "Größe", "when", "grade", "flag", "A", "a")
    assert table.notes[-1] == f"rows selected where {where}"


def test_levels_are_those_of_the_rows_chosen_but_kinds_those_of_all(source: str) -> None:
    table = read_table(source, where="grade = 'x'")
    assert table.column("grade").levels == ("x",)
    assert table.column("flag").levels == ("no", "yes")
    kinds = [column.kind for column in read_table(source).columns]
    assert (
        [column.kind for column in table.columns]
        == kinds
        == ["id", "number", "date", "category", "boolean", *["number"] * 2]
    )
    assert table.column("id").values.tolist() == ["1", "3"]


def test_sql_makes_a_new_table(source: str) -> None:
    table = read_table(
        source, sql="SELECT grade, sum(A_1) AS total, count(*) AS n FROM t GROUP BY grade ORDER BY grade;"
    )
    assert table.names == ("grade", "total", "n")
    assert table.column("total").values.tolist() == [4.0, 2.0]
    assert read_table(source, sql='FROM "table" SELECT id').names == ("id",)
    assert read_table(source, sql="SELECT list(A_1)[1] AS first FROM t").column("first").values.tolist() == [1.0]


@pytest.mark.parametrize(
    ("sql", "names", "renamed"),
    [
        ("SELECT flag, flag AS flag, grade FROM t", ("flag", "flag_2", "grade"), "flag"),
        ("SELECT flag, id, flag, grade FROM t", ("flag", "id", "flag_2", "grade"), "flag"),
        (
            "SELECT l.id, l.flag, r.grade, l.flag FROM t l JOIN t r USING (id)",
            ("id", "flag", "grade", "flag_2"),
            "flag",
        ),
    ],
)
def test_columns_of_one_name_in_an_answer_keep_their_cells(
    source: str, sql: str, names: tuple[str, ...], renamed: str
) -> None:
    table = read_table(source, sql=f"{sql} ORDER BY id")
    assert table.names == names
    assert table.column("grade").words().tolist() == ["x", "y", "x"]
    assert table.column(f"{renamed}_2").words().tolist() == table.column(renamed).words().tolist()
    assert f"two columns are called {renamed!r}; the later one is '{renamed}_2' here" in table.notes


@pytest.mark.parametrize("asked", [{"where": "a > 1"}, {"sql": "SELECT id, t.A FROM t"}, {"where": '"A" = 2'}])
def test_names_that_differ_in_capitals_only_are_not_mixed_up(source: str, asked: dict[str, str]) -> None:
    told = "SQL does not distinguish 'A' and 'a'; write \"A_1\" for 'A', \"a_2\" for 'a', or rename one in the file"
    with pytest.raises(OptionError) as refused:
        read_table(source, where=asked.get("where"), sql=asked.get("sql"))
    assert str(refused.value).endswith(told)


def test_an_answer_has_the_table_s_own_names(source: str) -> None:
    assert read_table(source, sql="SELECT * FROM t WHERE id > 1").names == read_table(source).names
    assert read_table(source, sql="SELECT id, a_2 FROM t").column("a").values.tolist() == [7.0, 8.0, 9.0]


def test_what_names_rows_does_so_for_the_same_reason_among_chosen_rows(source: str) -> None:
    reason = "the numbers count the rows, so they identify them"
    assert (
        read_table(source).column("id").reason == read_table(source, where="grade = 'x'").column("id").reason == reason
    )


HOSTILE = [
    "1=1; COPY t TO '{out}'",
    "1=1) ; COPY (SELECT 1) TO '{out}' --",
    "1 IN (SELECT 1 FROM read_csv('/etc/passwd'))",
    "1 IN (SELECT 1 FROM '/etc/passwd')",
    "1 IN (SELECT 1 FROM read_text('/etc/passwd'))",
    "1 IN (SELECT 1 FROM glob('/*'))",
    "1 IN (SELECT 1 FROM read_parquet('https://example.org/x.parquet'))",
    "1 IN (SELECT 1 FROM secret_list)",
    "id > (",
    "nosuch > 1",
]
STATEMENTS = [
    "COPY t TO '{out}'",
    "ATTACH '{out}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "EXPORT DATABASE '{out}'",
    "CREATE TABLE x AS SELECT 1",
    "DROP VIEW t",
    "PRAGMA database_list",
    "SELECT 1; SELECT 2",
    "SELECT * FROM query('COPY t TO ''{out}''')",
    "SELECT * FROM read_csv('{in}')",
    "",
]


@pytest.mark.parametrize("where", HOSTILE)
def test_a_hostile_predicate_reaches_nothing(source: str, tmp_path: Path, where: str) -> None:
    secret_list = [1]  # a variable here is no table there
    out = tmp_path / "out"
    with pytest.raises(OptionError) as refused:
        read_table(source, where=where.format(out=out))
    assert "where=" in str(refused.value)
    assert "t" in str(refused.value).split("; ")[-1]
    assert not out.exists()
    assert secret_list


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_hostile_statement_reaches_nothing(source: str, tmp_path: Path, sql: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(OptionError) as refused:
        read_table(source, sql=sql.replace("{out}", str(out)).replace("{in}", source))
    assert str(refused.value).startswith("sql=")
    assert not out.exists()


def test_errors_say_what_is_wrong(source: str) -> None:
    with pytest.raises(OptionError, match=r'"nosuch" not found.*; the table is called t$'):
        read_table(source, where="nosuch > 1")
    with pytest.raises(OptionError, match="give a single SELECT that reads the table t and changes nothing"):
        read_table(source, sql="DROP VIEW t")
    with pytest.raises(OptionError, match="only the table itself may be read, no other file"):
        read_table(source, sql="SELECT * FROM read_csv('/etc/passwd')")
    with pytest.raises(OptionError, match=r"where and sql \(--where, --sql\) are both given; give one of them"):
        read_table(source, sql="SELECT * FROM t", where="id > 1")
    with pytest.raises(DataError, match="where='id > 7' selects no rows; change it"):
        read_table(source, where="id > 7")
