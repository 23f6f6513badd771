"""Slides: one sentence and one picture each, stamped with where the numbers come from, for every kind of run."""

from dataclasses import replace

import pytest

from engine import captions
from engine.charts import projector, speedup_bars, theme
from engine.comparison import compare_run
from engine.exports import meeting_pack
from engine.journey import steps
from engine.result import Run
from engine.slides import Slide, compared_slides, route_slides, run_slides
from engine.spec import Workload
from tests.made_pitfalls import made_pitfalls
from tests.many_lengths import many_lengths_run
from tests.pages.made_runs import COMPILED, POINT, made_run, with_failure
from tests.pages.made_sweeps import made_fusion

STAMP = "Hand-made CPU, 2 cores · torch 2.13.0 · standard protocol · measured 30 Nov 2026, 09:03 UTC"


def slides_of(run: Run, technique: str | None = "torch-compile") -> list[Slide]:
    return run_slides(run, compare_run(run), technique)


def route_of(run: Run) -> list[Slide]:
    rows = compare_run(run)
    return route_slides(steps([(run, rows)], POINT), [(run, rows)])


def moved_to(run: Run, point: Workload) -> Run:
    """The same run with another batch size at all of its points."""
    at = {each: replace(each, batch_size=point.batch_size) for each in run.experiment.workloads}
    outcomes = tuple(replace(each, workloads=tuple(at[one] for one in each.workloads)) for each in run.outcomes)
    return replace(run, experiment=replace(run.experiment, workloads=tuple(at.values())), outcomes=outcomes)


def test_a_run_is_told_from_the_verdict_to_the_claim() -> None:
    slides = slides_of(made_run())
    assert [slide.key for slide in slides] == ["verdict", "latency", "first calls", "price", "proof", "claims"]
    assert slides[0].sentence.startswith("torch.compile is 1.40x [")
    assert slides[1].sentence.startswith("Half of the calls with torch.compile take less than 15.")
    assert "with eager 21." in slides[1].sentence
    assert slides[2].sentence.startswith("The first call with torch.compile takes 9.3")
    assert "it pays back after" in slides[3].sentence
    assert (
        slides[4].sentence
        == "torch.compile really ran: 1 graph compiled; no recompile while timing; no fallback to eager, no graph break."
    )


@pytest.mark.parametrize("run", [made_run(), made_run(protocol="quick"), with_failure(made_run(), "no compiler")])
def test_every_slide_has_one_sentence_one_picture_and_its_stamp(run: Run) -> None:
    for slide in (*slides_of(run), *slides_of(run, None), *route_of(run)):
        assert slide.sentence.endswith(".")
        assert captions.of_run(run) in slide.stamp
        assert (slide.draw is None) != (slide.table is None)
        if slide.draw is not None:
            figure, alt = slide.draw()
            assert figure.data and alt


def test_keys_of_one_deck_differ() -> None:
    for deck in (slides_of(made_run()), route_of(made_run())):
        assert len({slide.key for slide in deck}) == len(deck)


def test_a_failed_technique_is_said_first_and_shown_in_the_picture() -> None:
    slides = slides_of(with_failure(made_run(), "no compiler"))
    assert "no compiler" in slides[0].sentence
    assert not [slide for slide in slides if "1.40x" in slide.sentence]


def test_no_slide_praises_calls_of_a_technique_that_did_not_run() -> None:
    slides = {slide.key: slide.sentence for slide in slides_of(made_run(facts={"frames_compiled": 0, "graphs": 0}))}
    assert slides["latency"].startswith("torch.compile did not run")
    assert slides["proof"].startswith("torch.compile did not run as asked: ")


def test_the_route_shows_all_steps_then_each_step_then_what_to_do() -> None:
    slides = route_of(made_run())
    assert [slide.key for slide in slides] == ["route", "stacked", "step torch-compile", "price", "advice", "claims"]
    assert "it pays back after" in slides[3].sentence
    assert slides[4].sentence.startswith("Use torch.compile here: 1.40x (faster)")
    assert len(slides[5].table) > 5
    assert route_slides(steps([], POINT), []) == []


def test_claims_of_the_route_are_judged_by_every_run_the_page_rests_on() -> None:
    """Guard: a run that no step speaks of any more still decides its claim, as on the landing page."""
    run, older = made_run(), made_fusion()
    results = [(each, compare_run(each)) for each in (run, older)]
    alone, together = (route_slides(steps(results[:1], POINT), known)[-1] for known in (results[:1], results))
    assert "holds here" not in alone.sentence and "1 holds here" in together.sentence
    assert "holds here" in set(together.table["Here"])


def test_the_price_is_drawn_beside_eager_of_the_same_run() -> None:
    """Guard: a newer run speaks for eager and torch.compile, the older one for what is fastest."""
    newer, older, key = made_run("newer"), made_run("older", speedup=2.0), "max-autotune/freezing"
    outcomes = tuple(replace(each, variant=key) if each.variant == COMPILED else each for each in older.outcomes)
    older = replace(older, experiment=replace(older.experiment, variants=(key,)), outcomes=outcomes)
    results = [(each, compare_run(each)) for each in (newer, older)]
    (price,) = [slide for slide in route_slides(steps(results, POINT), results) if slide.key == "price"]
    assert "eager" in price.draw()[1].lower()


def test_what_nothing_can_fail_to_happen_in_needs_no_proof() -> None:
    run, key = made_run(), "precision/bfloat16"
    outcomes = tuple(replace(each, variant=key) if each.variant == COMPILED else each for each in run.outcomes)
    half = replace(run, experiment=replace(run.experiment, variants=(key,)), outcomes=outcomes)
    slides = {slide.key: slide.sentence for slide in slides_of(half, "precision")}
    assert slides["proof"] == "bfloat16, eager needs no proof of its own."


def test_advice_to_stay_is_said_as_such() -> None:
    slow = {slide.key: slide for slide in route_of(made_run(speedup=0.8))}
    assert slow["advice"].sentence.startswith("Stay with eager")
    assert slow["advice"].table.values.tolist() == [["Avoid", "torch.compile", "slower here: 0.80x", "9.29 s"]]
    same = {slide.key: slide for slide in route_of(made_run(speedup=1.0))}
    assert "advice" not in same and same["price"].sentence.startswith("Stay with eager")


def test_what_to_do_names_the_second_choice_for_changing_lengths_from_another_run() -> None:
    lengths = many_lengths_run(((POINT.sequence_length or 0), 24, 60))
    lengths = moved_to(lengths, POINT)
    results = [(each, compare_run(each)) for each in (made_run(), lengths)]
    slides = {slide.key: slide for slide in route_slides(steps(results, POINT), results)}
    assert list(slides["advice"].table["What to do"])[:2] == ["Use", "If lengths vary"]
    pack = meeting_pack(steps(results, POINT), results)
    assert "If lengths vary" in pack


def test_pitfalls_are_shown_together_and_then_one_by_one() -> None:
    slides = slides_of(made_pitfalls(), "pitfalls")
    assert len(slides) == 10
    assert slides[0].sentence.startswith("8 of the 9 mistakes measured here changed the number")
    assert all("reported" in slide.sentence and "right" in slide.sentence for slide in slides[1:])
    for slide in slides:
        assert slide.draw is not None and slide.draw()[0].data


def test_several_runs_are_stamped_with_all_their_days() -> None:
    later = replace(made_run("later"), finished_at="2026-12-02T10:00:00+00:00")
    (slide,) = compared_slides([made_run(), later], compare_run(later))
    assert slide.stamp.endswith("measured 30 Nov 2026, 09:03 UTC to 2 Dec 2026, 10:00 UTC")


def test_a_figure_for_the_projector_is_larger_and_carries_its_stamp() -> None:
    rows = [row for row in compare_run(made_run()) if not row.is_twin]
    small = speedup_bars.speedup_bars(rows)
    large = projector.enlarged(small, STAMP)
    assert large.layout.title.subtitle.text.replace("\u00a0", " ") == STAMP
    assert large.layout.yaxis.tickfont.size > 1.5 * theme.TEXT_SIZE
    assert large.layout.annotations[0].font.size > 1.5 * theme.TEXT_SIZE
    assert f"font-size:{round(theme.SUBTITLE_SIZE * projector.MOST)}px" in large.layout.annotations[0].text
    assert large.layout.height == projector.SCREEN_HEIGHT
    assert small.layout.yaxis.tickfont.size == theme.TEXT_SIZE, "the page's own figure stays as it is"


def test_many_rows_still_fit_the_screen_or_nearly() -> None:
    rows = [row for row in compare_run(made_run()) if not row.is_twin] * 5
    large = projector.enlarged(speedup_bars.speedup_bars(rows), STAMP)
    assert large.layout.height <= projector.SCREEN_HEIGHT * 1.02
