"""The report: one page with everything in it, true to its records, whatever the data are called."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from separatrix.errors import OptionError, printable
from separatrix.model.train import TrainOptions, train_table
from separatrix.rendering.html import LOOK
from separatrix.rendering.sheet import format_number
from separatrix.reports.findings import findings_of, fit_findings
from separatrix.reports.report import make_report, quality_of, render_report, write_report
from separatrix.reports.text import measures_of
from separatrix.tables.demos import demo_table
from separatrix.tables.table import Column, Table, category_column

COMMAND = "separatrix fit table.csv --out 'my model.json' --report report.html"
SECTIONS = ["answer", "coefficients", "quality", "boundary", "training", "data", "reproduce", "check"]
OUTSIDE = re.compile(r"\s*(https?:|//|javascript:|file:)")
DRAWN = {"svg", "defs", "clipPath", "g", "path", "use", "text", "tspan", "rect", "image", "title"}
VOID = {"meta", "img", "br", "link", "input", "hr"}
SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"o'n & <b>"
RTL = "\u202eעמודה مرحبا"
LONG = "x" * 300
MATHS = "$\\frac$ cost $ \x01"


class Page(HTMLParser):
    """What a page has: its tags with attributes, the text by section, and whether tags are closed in order."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.open = [], {}, []
        self.section = ""
        self.feed(source)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.section = dict(attrs)["id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data):
        self.text[self.section] = self.text.get(self.section, "") + data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def regression_table(rows=120):
    rng = np.random.default_rng(1)
    size, age = rng.normal(50.0, 10.0, rows), rng.uniform(0.0, 80.0, rows)
    place = [("north", "south", "west")[code] for code in rng.integers(0, 3, rows)]
    age[:4] = np.nan
    price = 3.0 * size - np.nan_to_num(age, nan=40.0) + 20.0 * (np.array(place) == "west") + rng.normal(0.0, 9.0, rows)
    columns = (Column("size", "number", size), Column("age", "number", age), category_column("place", place))
    return Table((*columns, Column("price", "number", price)), "houses.csv", target="price")


def text_table():
    words = ["cheap pills now", "meet at noon", "win cash cash", "lunch at noon", "cheap cash", "see you at lunch"] * 10
    labels = ["spam", "ham"] * 30
    columns = (Column("message", "text", np.array(words, dtype=object)), category_column("kind", labels))
    return Table(columns, "mail.csv", target="kind")


def hostile_table(rows=300):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(rows, 4)), rng.integers(0, 4, rows)
    levels = [SCRIPT, '"><img src=x onerror=alert(1)>', "https://evil.example/{{7*7}}", RTL]
    y = X[:, 0] + X[:, 1] + 0.3 * codes + rng.logistic(size=rows) > 0.5
    columns = [Column(name, "number", X[:, place]) for place, name in enumerate((SCRIPT, QUOTES, RTL, LONG))]
    columns.append(category_column(MATHS, [levels[code] for code in codes]))
    columns.append(category_column("<i>목표</i>", ["</style><script>yes" if value else "لا & 'no'" for value in y]))
    columns.append(Column("id<", "id", np.array([f"<{row}>" for row in range(rows)], dtype=object)))
    return Table(tuple(columns), f"{SCRIPT}.csv", target="<i>목표</i>", notes=(f"a note {SCRIPT}",))


CASES = {
    "logistic": (demo_table("breast-cancer"), TrainOptions(holdout=0.25)),
    "separated": (demo_table("breast-cancer"), TrainOptions(given={"strength": 0.0})),
    "softmax": (demo_table("iris"), TrainOptions()),
    "least squares": (regression_table(), TrainOptions(folds=3)),
    "ridge": (regression_table(), TrainOptions(given={"strength": 0.1})),
    "perceptron": (demo_table("students"), TrainOptions(model="perceptron")),
    "svm": (demo_table("iris"), TrainOptions(model="svm")),
    "generative": (demo_table("breast-cancer"), TrainOptions(model="generative")),
    "text": (text_table(), TrainOptions(text=("message",))),
    "hostile": (hostile_table(), TrainOptions(holdout=0.3)),
}


@pytest.fixture(scope="module")
def reports():
    """Reports by name, each made once."""
    made = {}

    def report(name):
        if name not in made:
            table, options = CASES[name]
            record = make_report(train_table(table, options), table, COMMAND)
            made[name] = record, render_report(record)
        return made[name]

    return report


def check_whole(record, source):
    page = Page(source)
    numbers = record.trained.model.classes is None
    sections = [each["id"] for each in page.named("section")]
    assert sections == [each for each in SECTIONS if not (numbers and each == "boundary")]
    assert [each["href"] for each in page.named("a")] == [f"#{each}" for each in sections[1:]]
    assert source.startswith("<!DOCTYPE html>")
    assert 'content="width=device-width, initial-scale=1"' in source
    assert len(source.encode()) < 3e6
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def check_inert(_, source):
    page = Page(source)
    assert not {"script", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not any(attribute.startswith("on") for attribute in attributes), attributes
        for attribute in ("src", "href", "data", "srcset", "action"):
            assert not OUTSIDE.match(attributes.get(attribute) or ""), (tag, attributes)
    style = source.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def check_pictures(record, source):
    page = Page(source)
    pictures = [*record.profiles, *filter(None, [record.boundary]), *record.quality, *record.trace]
    named = [each["aria-label"] for each in page.named("svg") if "aria-label" in each]
    assert len(named) == len(set(named)) == len(pictures) > 0
    assert all(len(name) > 10 for name in named)
    assert "<img" not in source
    for picture in pictures:
        root = ElementTree.fromstring(picture.svg)
        assert root.tag == "svg"
        assert {element.tag for element in root.iter()} <= DRAWN
        assert picture.svg in source
        assert picture.title


def check_numbers(record, source):
    page, trained = Page(source), record.trained
    for found in filter(None, (trained.own, trained.holdout)):
        for measure, value in measures_of(found):
            assert measure in page.text["quality"]
            assert str(value) in page.text["quality"]
    for term in record.coefficients.terms:
        for value in (term.estimate, term.standard_error, term.lower, term.upper):
            shown = {format_number(value, count) for count in (4, 6)}
            assert value is None or any(each in page.text["coefficients"] for each in shown)
    assert trained.model.data["sha256"] in page.text["reproduce"]
    assert COMMAND in page.text["reproduce"]
    assert f"{trained.model.data['rows']:,} rows" in page.text["data"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_model_has_a_page(reports, name):
    """Whole, with nothing fetched or run, pictures with words, and the record's numbers."""
    for check in (check_whole, check_inert, check_pictures, check_numbers):
        check(*reports(name))


@pytest.mark.parametrize("name", ["logistic", "softmax", "perceptron", "svm", "hostile"])
def test_the_confusions_add_up(reports, name):
    record, source = reports(name)
    found, _ = quality_of(record.trained)
    cells = re.findall(r"<td style=[^>]*><bdi>([0-9,]+)</bdi></td>", source)
    assert [int(cell.replace(",", "")) for cell in cells] == found.confusion.ravel().astype(int).tolist()
    assert sum(int(cell.replace(",", "")) for cell in cells) == found.rows


def test_names_from_the_data_are_shown_and_not_obeyed(reports):
    record, source = reports("hostile")
    page = Page(source)
    for evil in ("<script", "<b>", "<i>", "<img src=x"):
        assert evil not in source
    assert source.count("</style>") == 1
    names = page.text["data"]
    for name in (SCRIPT, QUOTES, LONG, "עמודה"):
        assert name in names
    assert "cost $ \\x01" in names
    assert "\x01" not in source
    assert f"A note {SCRIPT}" in names
    assert "https://evil.example/{{7*7}}" in page.text["coefficients"]
    assert "<i>목표</i>" in page.text["answer"]
    assert f"{SCRIPT}.csv" in page.text["check"]
    assert "{{7*7}}" in page.text["coefficients"]
    assert "evil.example/49" not in source
    assert record.boundary is not None
    assert "<script" not in record.boundary.svg


def test_a_word_in_another_direction_stays_in_its_place(reports):
    _, source = reports("hostile")
    assert f"<bdi>{printable(RTL)}</bdi>" in source
    assert "<bdi>&#34;لا &amp; &#39;no&#39;&#34;</bdi>" in source


def test_the_answers_of_a_separated_fit(reports):
    record, source = reports("separated")
    assert [answer.word for answer in record.findings] == ["no", "no", "no", "no"]
    assert record.findings[0].evidence == (record.trained.fitted.result.certificate.existence.claim,)
    assert record.forest is None
    assert format_number(float(record.trained.model.coef[0, 0]), 4) in Page(source).text["coefficients"]
    assert "There are no intervals: the likelihood has no maximum" in Page(source).text["coefficients"]


def test_the_answers_of_a_penalty(reports):
    record, source = reports("logistic")
    assert [answer.word for answer in record.findings] == ["yes", "yes", "yes", "no"]
    claim = record.trained.fitted.result.certificate.claim
    gap = record.trained.fitted.result.certificate.relative_gap
    assert record.findings[2].evidence == (f"the relative duality gap is {gap:.2g} (tolerance 1e-06)",)
    assert claim[1:] in Page(source).text["check"]
    assert "of held-out rows" in Page(source).text["answer"]
    assert f"on {record.trained.holdout.rows} held-out rows" in Page(source).text["quality"]


def test_the_answers_of_least_squares(reports):
    record, source = reports("least squares")
    assert [answer.word for answer in record.findings] == ["yes", "yes", "yes", "yes"]
    assert len(record.quality) == 5
    text = Page(source).text["quality"]
    for check in record.diagnosis.checks:
        assert check.name in text
        assert check.verdict in text
    assert "Column 'age': 4 cells of 120 missing." in Page(source).text["data"]


def test_tests_are_doubtful_where_the_rows_contradict_what_they_assume():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 10.0, 200)
    table = Table((Column("x", "number", x), Column("y", "number", x**3 + rng.normal(size=200))), "cubic.csv", "y")
    record = make_report(train_table(table), table, COMMAND)
    assert record.findings[3].word == "doubtful"
    assert "the data contradict linearity" in record.findings[3].evidence[-1]
    assert findings_of(record.trained)[3].word == "yes"


def test_a_mark_has_its_numbers_as_a_title(reports):
    record, _ = reports("least squares")
    residuals = next(picture for picture in record.quality if picture.title.startswith("linearity"))
    titles = [element.text for element in ElementTree.fromstring(residuals.svg).iter("title")]
    assert len(titles) == record.trained.fitted.result.certificate.data.n_counted
    assert all(re.fullmatch(r"fitted value \S+, residual \S+", title) for title in titles)


def test_the_answers_of_a_perceptron(reports):
    record, source = reports("perceptron")
    assert [answer.word for answer in record.findings] == ["yes", "no", "no", "no"]
    assert record.findings[0].evidence[0] == "a halfspace separates the classes, with a margin of 0.7071"
    assert "4 mistakes; the theorem allows at most 10." in Page(source).text["training"]
    assert '<span style="width: 40.0%">' in source


def test_the_answers_of_each_class_against_the_rest(reports):
    record, _ = reports("svm")
    exists, unique, optimal, tested = record.findings
    assert (exists.word, unique.word, optimal.word, tested.word) == ("yes", "yes", "yes", "no")
    assert exists.evidence[0].startswith("each class against the rest: with a penalty of strength 0.006667")
    assert [line.partition(" against")[0] for line in optimal.evidence] == ["'setosa'", "'versicolor'", "'virginica'"]


def test_a_fit_that_only_some_classes_reach_says_partly():
    table, few = demo_table("iris"), {"max_passes": 50, "keep": "best"}
    record = make_report(train_table(table, TrainOptions(model="perceptron", given=few)), table, COMMAND)
    assert record.findings[0].word == "partly"
    assert record.findings[0].evidence[0].startswith("'setosa' against the rest: yes: a halfspace separates")


def test_what_does_not_exist_is_never_called_found():
    table = demo_table("iris")
    options = TrainOptions(model="perceptron", given={"max_passes": 50, "on_overlap": "stop"})
    exists, _, optimal = fit_findings(train_table(table, options).fitted.result)
    assert [line.partition(": ")[2][:4] for line in exists.evidence] == ["yes:", "no: ", "no: "]
    assert (exists.word, optimal.word) == ("partly", "no")
    for name in ("five-points", "five-points-overlap"):
        for model in ("logistic", "perceptron", "lms", "svm", "generative"):
            fitted = train_table(demo_table(name), TrainOptions(model=model)).fitted
            words = [finding.word for finding in fit_findings(fitted.result)]
            assert words[0] != "no" or words[1:] == ["no", "no"], (name, model)


def test_a_text_has_no_boundary_and_says_why(reports):
    record, source = reports("text")
    assert record.boundary is None
    assert "a boundary needs two numeric columns, and the model uses 0 such columns" in Page(source).text["boundary"]


def test_a_slice_is_called_a_slice(reports):
    picture = reports("softmax")[0].boundary
    assert "'petal_length' and 'petal_width'" in picture.title
    assert "2 other features fixed at the mean" in picture.note


def test_the_page_says_how_to_check_it(reports):
    text = Page(reports("softmax")[1]).text["check"]
    assert "separatrix verify 'my model.json' demo:iris" in text
    table, options = CASES["softmax"]
    plain = Page(render_report(make_report(train_table(table, options), table, "separatrix fit demo:iris")))
    assert "separatrix fit demo:iris --out model.json" in plain.text["check"]
    assert "separatrix verify model.json demo:iris" in plain.text["check"]


def test_many_classes_are_listed_by_their_confusions():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(30), 12)
    X = rng.normal(size=(360, 2)) + np.column_stack([codes % 6, codes // 6])
    columns = [Column(name, "number", X[:, place]) for place, name in enumerate("ab")]
    table = Table((*columns, category_column("c", [f"k{code:02}" for code in codes])), "grid.csv", "c")
    record = make_report(train_table(table, TrainOptions(given={"strength": 0.01})), table, COMMAND)
    page = Page(render_report(record))
    assert "The 20 commonest of 30 classes" in page.text["quality"]
    assert "23 more classes are not drawn" in page.text["quality"]
    assert "30 classes are too many to tell apart by colour" in page.text["boundary"]
    assert "23 more classes are not drawn" in page.text["coefficients"]


def test_the_same_fit_makes_the_same_file(tmp_path):
    table, options = CASES["perceptron"]
    for name in ("a.html", "b.html"):
        write_report(train_table(table, options), table, str(tmp_path / name), COMMAND)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    table, options = CASES["perceptron"]
    trained, path = train_table(table, options), tmp_path / "report.html"
    path.write_text("the old page", encoding="utf-8")
    with pytest.raises(OptionError, match="cannot be written"):
        write_report(trained, table, str(tmp_path / "nowhere" / "report.html"), COMMAND)
    monkeypatch.setattr("separatrix.files._rename", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OptionError, match="No space left"):
        write_report(trained, table, str(path), COMMAND)
    assert path.read_text(encoding="utf-8") == "the old page"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_large_tables_are_thinned_and_the_page_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=60_000)
    columns = [Column(name, "number", X[:, place]) for place, name in enumerate("abc")]
    table = Table((*columns, Column("y", "number", y)), "large.csv", "y")
    path = tmp_path / "large.html"
    write_report(train_table(table), table, str(path), COMMAND)
    assert path.stat().st_size < 1e6
    assert "3,000 of 60,000 training rows are drawn" in Page(path.read_text(encoding="utf-8")).text["quality"]


@pytest.mark.slow
def test_many_coefficients_are_capped_and_the_page_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2500))
    columns = [Column(f"x{place}", "number", X[:, place]) for place in range(2500)]
    table = Table((*columns, Column("y", "number", X[:, 0] + rng.normal(size=60))), "wide.csv", "y")
    page = Page(render_report(make_report(train_table(table), table, COMMAND)))
    assert "the 30 largest of 2,500 are shown" in page.text["coefficients"]
    assert "The first 2,000 of 2,500 coefficients, in the order of the model" in page.text["coefficients"]
    assert len(page.named("details")) >= 2


def test_rows_left_out_are_not_counted():
    table = regression_table()
    record = make_report(train_table(table, TrainOptions(missing="drop")), table, COMMAND)
    text = Page(render_report(record)).text["data"]
    kept = record.trained.target.y[4:]
    assert f"116 rows; 'price' from {kept.min():.6g}" in text
    assert "4 rows left out" in text


def brightness(colour):
    """The relative luminance of the accessibility guidelines."""
    parts = [int(colour[place : place + 2], 16) / 255.0 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_has_contrast(theme):
    look = LOOK.read_text(encoding="utf-8").split("prefers-color-scheme: dark")[theme].split(":root[data-theme")[0]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9A-F]{6})", look))
    for ground in ("paper", "card"):
        for ink in ("ink", "soft", "link", "proof"):
            dark, light = sorted([brightness(colours[ground]), brightness(colours[ink])])
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ground, ink)
