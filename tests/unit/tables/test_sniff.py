"""Text files as people write them: separators, headers, encodings, numbers, dates, gaps; each decision is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from separatrix.errors import DataError, OptionError
from separatrix.tables.open import open_table, read_table
from separatrix.tables.table import Column, Table


def table_of(folder: Path, text: str | bytes, name: str = "t.csv", **options: Any) -> Table:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(str(path), **options)


def column_of(folder: Path, *cells: str, **options: Any) -> Column:
    """Return the column that cells make, a row number beside it so that no row is empty."""
    rows = "".join(f"{cell}\x1f{place % 2}\n".replace("\x1f", "|") for place, cell in enumerate(cells))
    return table_of(folder, f"x|y\n{rows}", **options).column("x")


def shown(column: Column) -> list[Any]:
    """Return the values with None where missing, categories as words."""
    values = column.words() if column.kind in {"category", "text", "id"} else column.values
    return [None if missing else value for value, missing in zip(values.tolist(), column.is_missing, strict=True)]


# Separators, headers, quotes


def separated(sign: str) -> str:
    rows = [["a", "b", "y"], ["1", "2.5", "p"], ["3", "4.5", "q"], ["5", "6.5", "p"]]
    return "".join(sign.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, sign: str) -> None:
    table = table_of(tmp_path, separated(sign), "t.txt")
    assert table.names == ("a", "b", "y")
    assert table.column("b").values.tolist() == [2.5, 4.5, 6.5]
    assert bool(table.notes) == (sign != ",")


@pytest.mark.parametrize("sign", [",", "^", "~", ":", " ", "\x01"])
def test_any_other_separator_may_be_given(tmp_path: Path, sign: str) -> None:
    table = table_of(tmp_path, separated(sign), "t.txt", separator=sign)
    assert table.names == ("a", "b", "y")
    assert table.column("b").values.tolist() == [2.5, 4.5, 6.5]
    assert table.notes == (() if sign == "," else (f"fields are separated by {sign!r}",))


def test_other_separators_are_not_guessed_but_named(tmp_path: Path) -> None:
    table = table_of(tmp_path, separated("^"), "t.txt")
    assert table.names == ("a^b^y",)
    with pytest.raises(DataError, match=r"has no column 'y'; its only column is 'a\^b\^y': give the separator"):
        table.column("y")
    late = "é".join(["a^b\n1^2\n" + "3^4\n" * 100_000, "^5\n"])  # not UTF-8 after the sample: read again
    assert table_of(tmp_path, late.encode("latin-1"), separator="^").names == ("a", "b")


@pytest.mark.parametrize(
    ("separator", "message"),
    [
        ("::", "separator='::' is not one character other than a quote and a line end"),
        ('"', "is not one character other than a quote"),
        ("~", "separator='~' does not separate the fields of most lines; give the one that does"),
    ],
)
def test_a_separator_that_separates_nothing_is_refused(tmp_path: Path, separator: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        table_of(tmp_path, separated(","), separator=separator)


def test_a_separator_is_for_text_files(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="separator=';' applies to text files only, and"):
        table_of(tmp_path, '{"a": 1}', "t.jsonl", separator=";")


def test_one_column_is_one_column(tmp_path: Path) -> None:
    assert shown(table_of(tmp_path, "when\n2024-01-01 10:00:00\n2024-01-02 12:00:00\n").columns[0]) == [
        pytest.approx(19723 + 10 / 24),
        19724.5,
    ]
    assert table_of(tmp_path, "x\n1.5\n\n2.5\n").columns[0].values.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("1,p\n2,q\n3,p\n", ("column_1", "column_2"), 3),
        ("yes,no\nno,yes\nyes,yes\n", ("column_1", "column_2"), 3),
        ("0,1,2\n5,6,7\n8,9,1\n", ("0", "1", "2"), 2),
        ("land,1990,1991,1992\nA,1,2,3\nB,4,5,6\n", ("land", "1990", "1991", "1992"), 2),
        ("x,y\na,b\nc,d\n", ("x", "y"), 2),
        ("a,b\n1,2,3\n4,5,6\n", ("column_1", "a", "b"), 2),
        ("a,b\n1,2,\n4,5,\n", ("a", "b"), 2),
        ("a,b,\n1,2\n4,5\n", ("a", "b"), 2),
        ("A report\nof today\n\na,b\n1,2\n3,4\n", ("a", "b"), 2),
        ("Source: office, 2024\n\nname,from,to\nA,1,2\nB,3,4\n", ("name", "from", "to"), 2),
        ("a;b;c;d;e\nx;y;z;u;0,5\ny;z;x;v;7,25\nz;x;y;u;1,5\n", ("a", "b", "c", "d", "e"), 3),
        ('"a\nb",c\n1,2\n3,4\n', ("a\nb", "c"), 2),
        ('"a\nb",c\r\n1,\r\n3,\r\n', ("a\nb", "c"), 2),
        (",a\n0,5\n1,6\n2,7\n", ("column_1", "a"), 3),
        (" a,b \n1,2\n", (" a", "b "), 1),
    ],
)
def test_the_header_is_found(tmp_path: Path, text: str, names: tuple[str, ...], rows: int) -> None:
    table = table_of(tmp_path, text)
    assert (table.names, table.n_rows) == (names, rows)


def test_what_was_found_is_said(tmp_path: Path) -> None:
    notes = table_of(tmp_path, "Report of today\n1;p\n2;q\n3;p\n").notes
    assert notes == (
        "fields are separated by semicolons",
        "1 line before the table left out: 'Report of today'",
        "the file has no header; columns are called column_1 to column_2",
    )


def test_odd_and_repeated_names_survive(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'a,A,a,"say ""x""; --",a_2,,select\n1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n')
    assert table.names == ("a", "A", "a_3", 'say "x"; --', "a_2", "column_6", "select")
    assert [column.values[0] for column in table.columns] == [1, 2, 3, 4, 5, 6, 7]
    assert table.notes == ("two columns are called 'a'; the later one is 'a_3' here",)


def test_quotes_hold_separators_line_ends_and_quotes(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'a,b\n"x, y","one\ntwo"\n"he said ""no""",5" disk\n')
    assert [shown(column) for column in table.columns] == [["x, y", 'he said "no"'], ["one\ntwo", '5" disk']]
    table = table_of(tmp_path, 'a,b\n"he said \\"no\\"",1\n"x, y",2\n')
    assert shown(table.column("a")) == ['he said "no"', "x, y"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_kind(tmp_path: Path, end: str) -> None:
    table = table_of(tmp_path, f'a,b{end}1,"x{end}y"{end}{end}3,z')
    assert table.column("a").values.tolist() == [1.0, 3.0]
    assert shown(table.column("b"))[1] == "z"


@pytest.mark.slow
def test_line_ends_of_two_kinds(tmp_path: Path) -> None:
    for text in ("a,b\r\n1,x\n2,y\r\n3,z\n", "a,b\n1,x\r\n2,y\n3,z\n"):
        assert shown(table_of(tmp_path, text).column("b")) == ["x", "y", "z"]
    late = "a,b\n" + "1,x\n" * 100_000 + "2,y\r\n" + "3,z\n"
    assert table_of(tmp_path, late).column("b").levels == ("x", "y", "z")


def test_blank_lines_empty_rows_and_empty_columns_are_left_out(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a;b;;\n\n1;2;;\n;;;\n3;;;\n;;;\n\n")
    assert table.names == ("a", "b")
    assert shown(table.column("b")) == [2.0, None]
    assert table.notes[1:] == (
        "2 empty rows left out: rows 1, 3 (counted from 0)",
        "2 columns without a name or values left out",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b,c\n1,2,3\n4,5\n6,7,8\n",
            "line 3 has 2 fields where the header has 3: '4,5'; give every row the same number of fields",
        ),
        ('a,b\n1,"x\ny"\n2,3,4\n5,6\n', "line 4 has 3 fields where the header has 2: '2,3,4'"),
        ("1,2\n3,4\n5,6,7\n8,9\n", "line 3 has 3 fields where the others have 2"),
        ("a,b\n1,2\n3,4,\n5,6\n", "line 3 has 3 fields where the header has 2: '3,4,'"),
        ("a,b,c\n1,2,3\n   \n4,5,6\n", "line 3 has 1 field where the header has 3"),
        ('a,b\n1,2\n3,"4\n5,6\n', "has a quote that is not closed; close it, or write it twice"),
    ],
)
def test_a_ragged_row_is_refused_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as refused:
        table_of(tmp_path, text)
    assert message in str(refused.value)
    assert str(refused.value).startswith(repr(str(tmp_path / "t.csv")))


# Encodings

JAPANESE = "名前,値\nこれは日本語のテキストです。,1\nそしてもう一つの文章、です。,2\n"
RUSSIAN = "имя,x\nСанкт-Петербург большой город,1\nМосква столица,2\n"


@pytest.mark.parametrize(
    ("text", "codec", "note"),
    [
        ("größe,y\n1,Ö\n2,ß\n", "utf-8", None),
        ("größe,y\n1,Ö\n2,ß\n", "utf-8-sig", None),
        ("größe,y\n1,Ö\n2,ß\n", "utf-16", "read as UTF-16: a byte order mark at its start"),
        ("größe,y\n1,Ö\n2,ß\n", "utf-16-le", "read as UTF-16: every second byte is zero"),
        ("größe,y\n1,Ö\n2,ß\n", "utf-32", "read as UTF-32: a byte order mark at its start"),
        ("größe,y\n1,Ö\n2,ß\n", "latin-1", "read as Latin-1: it is not UTF-8, and nothing indicates another language"),
        ("preis,y\n1,„5 €“\n2,à la carte\n", "cp1252", "read as Windows-1252"),
        (
            RUSSIAN,
            "cp1251",
            "read as Windows-1251: it is not UTF-8, and read as such, its words are Cyrillic throughout",
        ),
        (JAPANESE, "shift_jis", "read as Shift-JIS"),
        (JAPANESE, "euc_jp", "read as EUC-JP"),
        ("名,x\n这是一个中文的文本，我们在这里有他。,1\n他们的一个人，大中国。,2\n", "gb18030", "read as GB 18030"),
        ("이름,x\n이것은 한국어 텍스트입니다,1\n안녕하세요 여러분,2\n", "euc_kr", "read as EUC-KR"),
    ],
)
def test_the_encoding_is_found_by_evidence(tmp_path: Path, text: str, codec: str, note: str | None) -> None:
    table = table_of(tmp_path, text.encode(codec))
    lines = [line.split(",") for line in text.splitlines()]
    assert table.names == tuple(lines[0])
    cells = [shown(column) for column in table.columns]
    assert [[str(cell).removesuffix(".0") for cell in row] for row in zip(*cells, strict=True)] == lines[1:]
    assert (table.notes == ()) if note is None else any(said.startswith(note) for said in table.notes)


@pytest.mark.slow
def test_a_late_letter_in_another_encoding(tmp_path: Path) -> None:
    text = "a,b\n" + "1,x\n" * 100_000 + "2,é\n"
    table = table_of(tmp_path, text.encode("latin-1"))
    assert table.column("b").levels == ("x", "é")
    assert table.notes[0].startswith("read as Latin-1")


# Numbers


@pytest.mark.parametrize(
    ("cells", "values", "reason"),
    [
        (["1", "2.5", "-3e2", "+.5"], [1, 2.5, -300, 0.5], "numbers"),
        (["1,234", "2,500.5", "12"], [1234, 2500.5, 12], "numbers written as 1,234.5"),
        (["0,5", "2,25", "3"], [0.5, 2.25, 3], "numbers written as 1.234,5"),
        (["1.234,50", "12.345.678,9", "7"], [1234.5, 12345678.9, 7], "numbers written as 1.234,5"),
        (["1 234,5", "2 000", "3"], [1234.5, 2000, 3], "numbers written as 1 234,5"),
        (["1'234.5", "2'000", "3"], [1234.5, 2000, 3], "numbers written as 1'234.5"),
        (["12%", "7.5%", "3%"], [12, 7.5, 3], "numbers, without %"),
        (["$5", "-$1,000", "$7.50"], [5, -1000, 7.5], "numbers written as 1,234.5, without $"),
        (["5 €", "6,5 €", "7 €"], [5, 6.5, 7], "numbers written as 1.234,5, without €"),
        (["−3", "4", "5"], [-3, 4, 5], "numbers"),
        (["inf", "-Infinity", "5"], [np.inf, -np.inf, 5], "numbers"),
        ([" 1 ", "2 ", " 3"], [1, 2, 3], "numbers"),
        (["NA", "n/a", "NULL", "?", "nan", "", "1"], [None] * 6 + [1], "numbers"),
        (["-", ".", "#DIV/0!", "none", "2", "3"], [None] * 4 + [2, 3], "numbers, 4 cells read as missing"),
    ],
)
def test_numbers_as_people_write_them(tmp_path: Path, cells: list[str], values: list[Any], reason: str) -> None:
    column = column_of(tmp_path, *cells)
    assert (column.kind, column.reason) == ("number", reason)
    assert shown(column) == values


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["01", "02", "01", "10"], "3 levels of text with leading zeros or very many digits"),
        (["12345678901234567", "1", "1", "1"], "2 levels of text with leading zeros or very many digits"),
        (["$5", "6 €", "$5", "6 €"], "2 levels of text; not numbers, since None is not one"),
        (["1_000", "2", "2", "2"], "2 levels of text; not numbers, since '1_000' is not one"),
        (["0x1A", "2", "2", "2"], "2 levels of text; not numbers, since '0x1A' is not one"),
        (["None", "a", "b", "b"], "3 levels of text"),
        (["-", "a", "b", "b"], "3 levels of text"),
    ],
)
def test_words_that_are_no_numbers(tmp_path: Path, cells: list[str], reason: str) -> None:
    column = column_of(tmp_path, *cells)
    assert column.kind == "category"
    assert shown(column) == cells
    assert column.reason.replace("; not numbers, since None is not one", "") == reason.replace(
        "; not numbers, since None is not one", ""
    )


def test_a_code_far_down_the_file_keeps_its_zeros(tmp_path: Path) -> None:
    rows = "".join(f"{90000 - k % 50},{k % 2}\n" for k in range(200_000))
    tail = "".join(f"00501,{k % 2}\n" for k in range(20_000))
    column = table_of(tmp_path, "zip,y\n" + rows + tail).column("zip")
    assert (column.kind, column.levels[0]) == ("category", "00501")


def test_a_decimal_comma_elsewhere_makes_a_point_a_thousands_separator(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a;b\n1.234;0,5\n2.500;1,25\n3.000;7\n")
    assert table.column("a").values.tolist() == [1234, 2500, 3000]
    table = table_of(tmp_path, "a;b\n1.234;5\n2.500;6\n3.000;7\n")
    assert table.column("a").values.tolist() == [1.234, 2.5, 3.0]


def test_further_words_for_a_gap(tmp_path: Path) -> None:
    column = column_of(tmp_path, "-200", "1.5", "2", missing_words=["-200"])
    assert shown(column) == [None, 1.5, 2.0]
    assert shown(column_of(tmp_path, "nought", "a", "a", "b", missing_words=["nought"])) == [None, "a", "a", "b"]


# Booleans, dates, text, ids


@pytest.mark.parametrize(
    ("cells", "levels", "values"),
    [
        (["true", "false", "", "true"], ("false", "true"), [1, 0, None, 1]),
        (["Yes", "No", "NA", "Yes"], ("No", "Yes"), [1, 0, None, 1]),
        (["T", "F", "F", "T"], ("F", "T"), [1, 0, 0, 1]),
        (["y", "n", "?", "n"], ("n", "y"), [1, 0, None, 0]),
    ],
)
def test_booleans_keep_their_words(
    tmp_path: Path, cells: list[str], levels: tuple[str, str], values: list[Any]
) -> None:
    column = column_of(tmp_path, *cells)
    assert (column.kind, column.levels, column.reason) == ("boolean", levels, "two words for no and yes")
    assert shown(column) == values


def test_words_that_differ_in_capitals_only_are_told(tmp_path: Path) -> None:
    text = "flag,x\nyes,1\nNO,2\nYES,3\nno,4\n"
    table = table_of(tmp_path, text)
    told = "column 'flag': two words for no and yes, in any capitalisation: 'NO', 'YES', 'no', 'yes'"
    assert table.notes == (told,)
    assert table.column("flag").values.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert read_table(tmp_path / "t.csv", where="x < 9").notes == (told, "rows selected where x < 9")


def test_words_read_as_missing_are_told_of_every_column(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a,b,c,d\nx, N/A ,1,yes\ny,v,-,no\nNULL,w,2, ? \nx,v,3.5,no\ny,v,4,yes\n")
    assert table.notes == ("read as missing: 'NULL', 'N/A', '-', '?'",)
    assert [column.missing for column in table.columns] == [1, 1, 1, 1]


def test_nought_and_one_stay_numbers(tmp_path: Path) -> None:
    assert column_of(tmp_path, "0", "1", "1", "0").kind == "number"


@pytest.mark.parametrize(
    ("cells", "days", "reason"),
    [
        (["2024-02-29", "1970-01-02"], [19782, 1], "dates written as iso"),
        (["2024-02-29T12:00:00", "1970-01-02"], [19782.5, 1], "dates written as iso"),
        (["2021-03-28T01:30:00+01:00", "2021-03-28 00:00"], [18714 + 0.5 / 24, 18714], "dates written as iso"),
        (["31-May-13", "01-Jun-13"], [15856, 15857], "dates written as %d-%b-%y"),
        (["31/12/2023", "01/02/2024"], [19722, 19754], "dates written as %d/%m/%Y (a number above 12 proves it)"),
        (["12/31/2023", "01/02/2024"], [19722, 19724], "dates written as %m/%d/%Y (a number above 12 proves it)"),
        (
            ["31.12.2023", "01.02.2024 06:00"],
            [19722, 19754.25],
            "dates written as %d.%m.%Y (a number above 12 proves it)",
        ),
        (
            ["01/11/2023", "05/11/2023", "02/12/2023", "03/01/2024"],
            [19662, 19666, 19693, 19725],
            "dates written as %d/%m/%Y (which sorts them)",
        ),
        (
            ["03/04/2024", "01/02/2024", "05/06/2024"],
            [19786, 19724, 19849],
            "dates that may be written as %m/%d/%Y or %d/%m/%Y; %m/%d/%Y is assumed",
        ),
        (["March 3, 2020", "May 4, 2020", ""], [18324, 18386, None], "dates written as %B %d, %Y"),
        (["2024-02-29", "-", "NA"], [19782, None, None], "dates written as iso"),
    ],
)
def test_dates_as_people_write_them(tmp_path: Path, cells: list[str], days: list[Any], reason: str) -> None:
    column = column_of(tmp_path, *cells)
    assert (column.kind, column.reason) == ("date", reason)
    assert shown(column) == pytest.approx(days)


def test_a_date_that_is_none_makes_a_category(tmp_path: Path) -> None:
    assert column_of(tmp_path, "2021-02-30", "2021-02-28", "2021-02-28").kind == "category"
    assert column_of(tmp_path, "18:00:00", "19:00:00", "19:00:00").kind == "category"


def test_words_that_differ_in_most_rows_name_them(tmp_path: Path) -> None:
    column = column_of(tmp_path, *(f"row {k}" for k in range(30)))
    assert (column.kind, column.reason) == ("id", "a different word in each row, so it identifies rows")
    column = column_of(tmp_path, *(f"row {k % 25}" for k in range(30)))
    assert (column.kind, column.reason) == ("id", "25 different words in 30 rows, so it identifies rows")
    assert column_of(tmp_path, *(f"row {k % 15}" for k in range(30))).kind == "category"


def test_long_words_are_text(tmp_path: Path) -> None:
    column = column_of(tmp_path, *(f"this is the message number {k} of them all" for k in range(30)))
    assert (column.kind, column.reason) == ("text", "41 characters per cell on average")
    assert column.values[3] == "this is the message number 3 of them all"


@pytest.mark.parametrize(
    ("name", "numbers", "kind"),
    [
        ("PassengerId", range(1, 11), "id"),
        ("id", [88, 12, 45, 7], "id"),
        ("customer_id", [88, 12, 45, 7], "id"),
        ("id", [88, 12, 12, 7], "number"),
        ("year", range(1947, 1963), "number"),
        ("x", range(1, 20), "number"),
        ("x", range(1, 200), "id"),
        ("x", [*range(1, 199), 500], "number"),
        ("width", [88, 12, 45, 7], "number"),
    ],
)
def test_whole_numbers_name_rows_if_they_count_them_or_are_called_so(
    tmp_path: Path, name: str, numbers: Any, kind: str
) -> None:
    table = table_of(tmp_path, f"{name},y\n" + "".join(f"{k},{k % 3}\n" for k in numbers))
    assert table.column(name).kind == kind
    expected: list[Any] = [str(k) for k in numbers] if kind == "id" else list(numbers)
    assert table.column(name).values.tolist() == expected


def test_a_column_without_a_value(tmp_path: Path) -> None:
    column = column_of(tmp_path, "", "NA", "")
    assert (column.kind, column.reason, column.missing) == ("number", "no values", 3)


# Kinds that are asked for


def test_a_kind_that_is_asked_for_is_taken_and_the_rest_counted(tmp_path: Path) -> None:
    cells = ["1", "2", "three", "", "four"]
    number = column_of(tmp_path, *cells, kinds={"x": "number"})
    assert shown(number) == [1, 2, None, None, None]
    assert (number.invalid, number.first_invalid) == (2, "three")
    words = column_of(tmp_path, *cells, kinds={"x": "category"}, levels={"x": ("three", "1")})
    assert words.levels == ("three", "1", "2", "four")
    assert shown(words) == ["1", "2", "three", None, "four"]
    assert words.values.tolist() == [1, 2, 0, -1, 3]
    truth = column_of(tmp_path, "yes", "no", "maybe", kinds={"x": "boolean"}, levels={"x": ("no", "yes")})
    assert (shown(truth), truth.invalid, truth.first_invalid) == ([1, 0, None], 1, "maybe")
    dates = column_of(tmp_path, "03/04/2024", "oops", kinds={"x": "date"}, formats={"x": "%d/%m/%Y"})
    assert (shown(dates), dates.invalid) == ([19816, None], 1)
    assert shown(column_of(tmp_path, "1", "2", kinds={"x": "text"})) == ["1", "2"]


def test_the_format_found_may_be_given_to_the_next_reading(tmp_path: Path) -> None:
    first = column_of(tmp_path, "31/12/2023", "0")
    assert column_of(tmp_path, "31/12/2023").format == "%d/%m/%Y"
    assert first.kind == "category"
    again = column_of(tmp_path, "03/04/2024", kinds={"x": "date"}, formats={"x": "%d/%m/%Y"})
    assert again.values.tolist() == [19816]
    number = column_of(tmp_path, "1.234", kinds={"x": "number"}, formats={"x": "1.234,5"})
    assert number.values.tolist() == [1234]


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"kinds\['x'\]='nubmer' is not one of 'number', .*; did you mean 'number'\?"):
        column_of(tmp_path, "1", kinds={"x": "nubmer"})


# Blocks


def test_blocks_are_the_table_cut_into_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,c,y\n" + "".join(f"{k},{'pqr'[k % 3]},{k % 2}\n" for k in range(5, 1005)), encoding="utf-8")
    with open_table(str(path)) as source:
        whole, blocks = source.read(), list(source.blocks(300))
        assert (source.n_rows, source.names) == (1000, ("a", "c", "y"))
        assert [column.kind for column in source.schema] == ["number", "category", "number"]
    assert [block.n_rows for block in blocks] == [300, 300, 300, 100]
    assert {block.column("c").levels for block in blocks} == {("p", "q", "r")}
    for name in whole.names:
        joined = np.concatenate([block.column(name).values for block in blocks])
        np.testing.assert_array_equal(joined, whole.column(name).values)


def test_a_demo_opens_like_a_file() -> None:
    with open_table("demo:iris") as source:
        assert [block.n_rows for block in source.blocks(100)] == [100, 50]
        assert source.read(["species"]).names == source.names[:-1]
    setosa = read_table("demo:iris", where="species = 'setosa'")
    assert (setosa.n_rows, setosa.target) == (50, "species")


def test_a_word_over_numbers_is_a_name_though_another_name_is_a_word_of_its_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("size,kind\n1.5,a\n2.5,kind\n", encoding="utf-8")
    assert read_table(str(path)).names == ("size", "kind")
    path.write_text("NA,a\n1.5,b\n2.5,a\n", encoding="utf-8")
    assert read_table(str(path)).names == ("column_1", "column_2")
