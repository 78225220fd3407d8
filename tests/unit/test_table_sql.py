"""`where` and `sql`: what they see, and that they cannot reach anything but the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from separatrix.errors import DataError, OptionError
from separatrix.tables import read_table

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
        ("A = 2 -- a comment", ["2"]),
        ('"a_2" = 9', ["3"]),
        ("id IN (SELECT max(id) FROM t)", ["3"]),
    ],
)
def test_where_sees_typed_columns(source: str, where: str, ids: list[str]) -> None:
    table = read_table(source, where=where, kinds={"id": "id"})
    assert table.column("id").values.tolist() == ids
    assert table.names == ("id", "Größe", "when", "grade", "flag", "A", "a")
    assert table.notes[-1] == f"rows chosen where {where}"


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
    table = read_table(source, sql="SELECT grade, sum(A) AS total, count(*) AS n FROM t GROUP BY grade ORDER BY grade;")
    assert table.names == ("grade", "total", "n")
    assert table.column("total").values.tolist() == [4.0, 2.0]
    assert read_table(source, sql='FROM "table" SELECT A').names == ("A",)
    assert read_table(source, sql="SELECT list(A)[1] AS first FROM t").column("first").values.tolist() == [1.0]


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
    with pytest.raises(OptionError, match="only one SELECT is taken, which reads the table t and changes nothing"):
        read_table(source, sql="DROP VIEW t")
    with pytest.raises(OptionError, match="only the table itself may be read, no other file"):
        read_table(source, sql="SELECT * FROM read_csv('/etc/passwd')")
    with pytest.raises(OptionError, match=r"where and sql \(--where, --sql\) are both given; give one of them"):
        read_table(source, sql="SELECT * FROM t", where="id > 1")
    with pytest.raises(DataError, match="where='id > 7' leaves no row; ask for at least two rows"):
        read_table(source, where="id > 7")
