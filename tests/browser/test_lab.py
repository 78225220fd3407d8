"""What a person does in the lab, and what they see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from separatrix.lab.session.options import LEARNERS

LIGHT = "?views=input"  # one figure: quick to draw


def choose(visit: Any, label: str, value: str) -> None:
    visit.page.get_by_label(label, exact=True).first.select_option(value)


def test_guide_note_a_in_five_steps(visit, pictures):
    visit.open().steps(5)
    visit.sees("w = (5, 1)", "converged, 5 ≤ 17", "separable through the origin with margin γ = 1", "0 of 5 wrong")
    visit.sees("(4, 3) + 1 · (1) · (1, −2) = (5, 1)")
    visit.picture(pictures / "lab-note-a.png")
    visit.page.get_by_role("button", name="Back", exact=True).click()
    visit.sees("w = (4, 3)")


def test_guide_a_dragged_point_breaks_separability_and_the_proof_is_shown(visit, pictures):
    visit.open().sees("separable through the origin")
    visit.page.get_by_label("intercept b").check()
    visit.sees(re.compile("^separable with margin"))
    visit.drag((-2, 0), (2.5, 1.5))
    visit.sees("not separable", "of both classes meet, so no line passes between them")
    visit.picture(pictures / "lab-overlap.png")
    visit.page.get_by_role("button", name="points as they were").click()
    visit.sees(re.compile("^separable with margin"))


def test_logistic_regression_has_no_maximum_on_separable_points(visit, pictures):
    visit.open()
    choose(visit, "learner", "logistic_gradient")
    visit.sees("no finite maximum")
    visit.steps(3)
    visit.picture(pictures / "logistic.png", whole=True)
    choose(visit, "example", "gaussians")
    visit.sees("not separable")
    visit.page.get_by_text("no finite maximum").wait_for(state="detached")


def test_a_permalink_brings_everything_back(visit):
    visit.open(LIGHT).steps(2)
    visit.page.get_by_label("Losses", exact=True).check()
    visit.page.get_by_role("button", name="+ learner").click()
    visit.page.get_by_label("learner", exact=True).nth(1).select_option("lms")
    visit.page.get_by_role("status", name="learner 2 stands").get_by_text("step 2").first.wait_for()
    visit.drag((-2, 0), (-2, -1))
    visit.sees("points as they were")
    visit.page.get_by_role("button", name="copy the link").click()
    visit.sees("the link is on the clipboard")
    link = visit.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{visit.url}?state=")
    assert visit.page.url == link
    seen = visit.page.locator(".standing").all_inner_texts()
    visit.page.goto("about:blank")
    visit.page.goto(link)
    visit.sees("points as they were")
    assert visit.page.get_by_label("learner", exact=True).nth(1).input_value() == "lms"
    assert visit.page.get_by_label("Losses", exact=True).is_checked()
    assert visit.page.locator(".standing").all_inner_texts() == seen


def test_a_link_that_was_altered_is_refused_in_words(visit):
    visit.open(f"{LIGHT}&state=AAAA<script>alert(1)</script>")
    visit.sees("this link could not be followed")
    visit.sees("w = (0, 0)")


def test_keys_do_what_the_list_says(visit):
    visit.open(LIGHT)
    choose(visit, "speed", "0.5")
    visit.page.get_by_role("heading", name="separatrix").click()
    press = visit.page.keyboard.press
    press("ArrowRight")
    visit.sees("w = (1, 3)")
    press("End")
    visit.sees("converged, 5 ≤ 17")
    press("Home")
    visit.sees("w = (0, 0)")
    press("]")
    press("f")
    visit.sees("4 of 5 wrong")
    press("Shift+ArrowUp")
    press("Delete")
    visit.sees("of 4 wrong")
    press("Control+z")
    visit.sees("of 5 wrong")
    press("Space")
    visit.page.get_by_role("button", name="Pause").wait_for()
    press("Space")
    visit.page.get_by_role("button", name="Play").wait_for()
    press("n")
    visit.page.get_by_role("group", name="Learner 2", exact=True).wait_for()


def test_playing_ends_where_the_learner_ends(visit):
    visit.open(LIGHT)
    choose(visit, "speed", "10")
    visit.page.get_by_role("button", name="Play").click()
    visit.sees("converged, 5 ≤ 17")
    visit.page.get_by_role("button", name="Play").wait_for()


def test_points_are_added_flipped_and_deleted_with_clicks(visit):
    visit.open(LIGHT).sees("of 5 wrong")
    click = lambda at: visit.page.mouse.click(*visit.place(*at))  # noqa: E731
    visit.page.get_by_text("add +1", exact=True).click()
    click((0.5, 0.5))
    visit.sees("of 6 wrong")
    visit.page.get_by_text("flip", exact=True).click()
    click((0.5, 0.5))
    visit.sees("4 of 6 wrong")
    visit.page.get_by_text("delete", exact=True).click()
    click((0.5, 0.5))
    visit.sees("of 5 wrong")
    click((1, 4))
    visit.sees("of 4 wrong")
    visit.until(lambda: click((1, -2)), "this is the last point of its class")


def test_a_control_that_is_refused_shows_again_what_holds(visit):
    rate = visit.open(LIGHT).page.get_by_label("rate η")
    rate.fill("-5")
    rate.press("Enter")
    visit.sees("rate=-5.0 is out of range")
    visit.page.wait_for_function("rate => rate.value === ''", arg=rate.element_handle())
    choose(visit, "example", "note-b-students")
    visit.sees("four columns")
    across = visit.page.get_by_role("group", name="Axes").get_by_label("across")
    across.select_option("3")
    visit.page.wait_for_function("across => across.value === '3'", arg=across.element_handle())


def test_code_trace_and_pictures_are_taken_away(visit):
    visit.open("?views=input.mistakes").steps(5)
    visit.sees("converged")
    visit.page.get_by_role("button", name="copy the code").click()
    visit.sees("the code is on the clipboard")
    assert "import separatrix as sx" in visit.page.evaluate("navigator.clipboard.readText()")
    with visit.page.expect_download() as trace:
        visit.page.get_by_role("button", name="trace as CSV").click()
    assert trace.value.suggested_filename == "separatrix-perceptron.csv"
    assert len(Path(trace.value.path()).read_text(encoding="utf-8").strip().splitlines()) == 7
    for kind, opening in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        last = f"mistakes.{kind.lower()}"
        with visit.page.expect_download(lambda each, last=last: each.suggested_filename.endswith(last)) as picture:
            visit.page.get_by_role("button", name=kind, exact=True).click()
        assert Path(picture.value.path()).read_bytes().startswith(opening)


def test_three_errors_in_one_table(visit, pictures):
    visit.open()
    choose(visit, "example", "note-e-lms")
    visit.page.get_by_role("button", name="compare three errors").click()
    for word in ("sign(s) − y", "s − y", "σ(s) − (y + 1)/2"):
        visit.page.get_by_role("cell", name=word, exact=True).first.wait_for()
    visit.picture(pictures / "compare.png", whole=True)


FOUR = ("lms", "logistic_newton", "kernel_perceptron")


def test_guide_four_learners_side_by_side(visit, pictures):
    visit.open(LIGHT)
    choose(visit, "example", "rings")
    for place, learner in enumerate(FOUR):
        visit.page.get_by_role("button", name="+ learner").click()
        pane = visit.page.get_by_role("group", name=f"Learner {place + 2}", exact=True)
        pane.get_by_label("learner", exact=True).select_option(learner)
        visit.page.get_by_role("status", name=f"learner {place + 2} stands").wait_for()
    visit.sees("have a coefficient")
    visit.page.keyboard.press("End")
    visit.sees("converged")
    assert not overflows(visit)
    visit.picture(pictures / "lab-four.png")
    visit.page.set_viewport_size({"width": 820, "height": 1180})
    assert not overflows(visit)
    visit.picture(pictures / "lab-tablet.png")


def test_every_view_is_drawn_at_every_size(visit, pictures):
    visit.open("?views=input.weights.mistakes.losses.lifted.table.explain.code")
    choose(visit, "example", "rings")
    visit.steps(3)
    visit.sees("Updates", "The same in Python", "update 3")
    assert len(visit.requests) > 5
    assert visit.outside == []
    assert not overflows(visit)
    visit.picture(pictures / "views-laptop.png", whole=True)
    visit.page.set_viewport_size({"width": 820, "height": 1180})
    assert not overflows(visit)
    visit.picture(pictures / "views-tablet.png", whole=True)


def overflows(visit: Any) -> bool:
    """Tell whether the page is wider than its window."""
    return bool(visit.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


WALKED = ("perceptron", "kernel_perceptron", "perceptron", "kernel_svm", "lms", "max_margin", "kernel_perceptron")
AT_THE_END = re.compile(r"^([\d,]+) of \1$")


@pytest.mark.parametrize("example", ["moons", "note-e-xor", "gaussians", "note-d-interval"])
def test_learners_follow_each_other_without_an_error_of_a_script(visit, example):
    visit.open()
    choose(visit, "example", example)
    for learner in WALKED:
        choose(visit, "learner", learner)
        visit.sees(LEARNERS[learner].formula)
        visit.page.get_by_role("button", name="To the end").click()
        visit.sees(AT_THE_END)
        assert visit.faults == [], learner


def test_axes_are_offered_only_where_weights_are_drawn(visit):
    visit.open("?views=weights")
    choose(visit, "example", "moons")
    choose(visit, "learner", "perceptron")
    axes = visit.page.get_by_role("group", name="Axes")
    axes.wait_for()
    choose(visit, "learner", "kernel_perceptron")
    visit.sees("a kernel learner has no weights to draw")
    axes.wait_for(state="hidden")
    choose(visit, "learner", "perceptron")
    axes.wait_for()


def test_the_slider_of_steps_can_be_used_on_a_telephone(visit):
    visit.page.set_viewport_size({"width": 390, "height": 844})
    slider = visit.open(LIGHT).page.get_by_label("step", exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box["width"] > 200
    visit.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    visit.sees("converged, 5 ≤ 17")
    assert not overflows(visit)


def test_controls_have_names(visit):
    visit.open()
    nameless = visit.page.evaluate(
        """() => {
          const controls = [];
          const walk = (root) => root.querySelectorAll("*").forEach((each) => {
            if (each.shadowRoot) walk(each.shadowRoot);
            if (["BUTTON", "INPUT", "SELECT"].includes(each.tagName)) controls.push(each);
          });
          walk(document);
          const named = (each) => each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.length;
          return [controls.length, controls.filter((each) => !named(each)).map((each) => each.outerHTML)];
        }"""
    )
    assert nameless[0] > 20
    assert nameless[1] == []
