"""One workload of a run, screen by screen: the verdict, single calls, the first call, the price, the road, the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pandas as pd

from engine import captions
from engine.catalog import VARIANTS
from engine.comparison import ComparisonRow, sentence
from engine.cost_table import break_even
from engine.evidence_table import PROOFS, PROVEN
from engine.formatting import UNKNOWN, seconds
from engine.frames import at_workload, samples_frame
from engine.headline import leading_row
from engine.proof import ALLOWANCES
from engine.result import Run
from engine.slides.slide import Drawing, Slide
from engine.stops import drives
from engine.verdict import Verdict

Samples = Callable[[], pd.DataFrame]


def workload_slides(run: Run, rows: Sequence[ComparisonRow], technique: str | None) -> Iterator[Slide]:
    """All screens about `rows`, which are of one workload and hold no twins."""
    lead = leading_row(rows, technique) or leading_row(rows)
    if lead is None:
        return
    stamp = captions.of_chart(run, lead.workload)
    yield verdict_slide(lead, rows, stamp)
    known = [row for row in rows if row.samples]
    if known:
        yield latency_slide(run, lead, known)
        yield from _first_calls(run, lead, known, stamp)
        yield from price_slide(lead, known, stamp)
        yield from _road(run, lead, known, stamp)
        yield Slide("proof", _ran(lead), stamp, table=proofs_table(known))


def verdict_slide(lead: ComparisonRow, rows: Sequence[ComparisonRow], stamp: str, key: str = "verdict") -> Slide:
    """The verdict on one row beside the bars of all of them."""

    def draw() -> Drawing:
        from engine.charts import speedup_bars

        return speedup_bars.speedup_bars(rows), speedup_bars.alt_text(rows)

    return Slide(key, sentence(lead), stamp, draw)


def latency_slide(
    run: Run, lead: ComparisonRow, rows: Sequence[ComparisonRow], key: str = "latency", said: str = ""
) -> Slide:
    """Boxes of the rows' single calls; without `said` the sentence is about medians and the slow calls."""
    samples, variants = _samples_of(run, lead), [row.variant for row in rows]

    def draw() -> Drawing:
        from engine.charts import latency_boxes

        return latency_boxes.latency_boxes(samples(), variants), latency_boxes.alt_text(samples(), variants)

    return Slide(key, said or _calls(lead), captions.of_chart(run, lead.workload), draw)


def _samples_of(run: Run, lead: ComparisonRow) -> Samples:
    return cache(lambda: at_workload(samples_frame([run]), lead.workload))


def _calls(lead: ComparisonRow) -> str:
    if lead.verdict.hides_speedup or lead.verdict is Verdict.WRONG_RESULT:
        return sentence(lead)
    other = ""
    if not lead.is_baseline and lead.baseline_median_s:
        other = f", with {lead.baseline_label.lower()} {seconds(lead.baseline_median_s)}"
    slow = f"; 19 of 20 take less than {seconds(lead.p95.value)}" if lead.p95 and not lead.p95.missing else ""
    return f"Half of the calls with {lead.label} take less than {seconds(lead.median_s)}{other}{slow}."


def _first_calls(run: Run, lead: ComparisonRow, rows: Sequence[ComparisonRow], stamp: str) -> Iterator[Slide]:
    if not lead.first_calls_s:
        return
    samples, variants = _samples_of(run, lead), [row.variant for row in rows]

    def draw() -> Drawing:
        from engine.charts import calls_curve

        return calls_curve.calls_curve(samples(), variants, log=True), calls_curve.alt_text(samples(), variants)

    first, steady = seconds(lead.first_calls_s[0]), seconds(lead.median_s)
    yield Slide("first calls", f"The first call with {lead.label} takes {first}, a steady one {steady}.", stamp, draw)


def price_slide(lead: ComparisonRow, rows: Sequence[ComparisonRow], stamp: str, said: str = "") -> Iterator[Slide]:
    """Total time, set-up included; nothing where no set-up was measured."""
    known = [row for row in rows if row.setup_cold_s is not None]
    if not known:
        return

    def draw() -> Drawing:
        from engine.charts import total_time

        return total_time.total_time(known), total_time.alt_text(known)

    yield Slide("price", said or _price(lead), stamp, draw)


def _price(lead: ComparisonRow) -> str:
    set_up = f"{lead.label} costs {seconds(lead.setup_cold_s)} of set-up with an empty compile cache"
    back = break_even(lead.break_even_cold)
    if back == UNKNOWN:
        return f"{set_up}."
    return f"{set_up}; it {'never pays back' + back.removeprefix('never') if back.startswith('never') else f'pays back {back}'}."


def _road(run: Run, lead: ComparisonRow, rows: Sequence[ComparisonRow], stamp: str) -> Iterator[Slide]:
    found = drives(run, rows)
    if not found:
        return

    def draw() -> Drawing:
        from engine.charts import driving

        return driving.driving(found), driving.alt_text(found)

    shown = [each for each in found if each.variant in (lead.baseline, lead.variant)]
    told = "; ".join(f"{each.label} {each.words}" for each in shown)
    yield Slide("road", f"What one call starts one by one: {told}.", stamp, draw)


def proofs_table(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """Whether it ran and whether the outputs are right, one line per variant, as text."""
    titles = {check.key: check.title for row in rows for check in row.checks}
    columns = {titles.get(key, key): [_cell(row, key) for row in rows] for key in PROOFS}
    return pd.DataFrame({"": [row.label for row in rows]} | columns)


def _ran(lead: ComparisonRow) -> str:
    variant = VARIANTS.get(lead.variant)
    if variant and not set(variant.proofs) - ALLOWANCES:
        return f"{lead.label} needs no proof of its own."
    check = next((check for check in lead.checks if check.key == PROOFS[0]), None)
    if check is None or check.passed is None:
        return f"Did {lead.label} really run? {_sentence_of(check.detail) if check else 'This version has no rule for it.'}"
    return f"{lead.label} {'really ran' if check.passed else 'did not run as asked'}: {check.detail}."


def _sentence_of(detail: str) -> str:
    return f"{detail[:1].upper()}{detail[1:]}."


def _cell(row: ComparisonRow, key: str) -> str:
    check = next((check for check in row.checks if check.key == key), None)
    return f"{PROVEN[check.passed]}: {check.detail}" if check else UNKNOWN
