"""Present mode (`?present=1`): one sentence and one picture per screen, stepped by buttons, arrow keys or a clicker.

The link holds the place (`slide=2`), so a reload shows the same screen.
"""

from typing import NoReturn

import streamlit as st

from engine import captions, catalog
from engine.charts import projector, theme
from engine.device_comparison import Point
from engine.device_comparison.view import View
from engine.journey import Step
from engine.result import Run
from engine.side_by_side import labelled
from engine.slides import Results, Slide, compared_slides, comparison_slides, route_slides, run_slides, runs_behind
from engine.slides.slide import Drawing
from pages.parts import job, measured, notices

KEPT = 64
DECKS = 4
"""Routes whose slides stay in memory: a meeting steps through one of them, and none may be made anew at every arrow key."""
SCREEN = "min(tan(atan2(100vw, 1920px)), tan(atan2(100vh, 1080px)))"
"""How much larger or smaller than 1920 x 1080 the window is, as a number: CSS divides lengths by way of an angle."""
STYLE = f"""<style>
[data-testid="stHeader"], [data-testid="stSidebar"], [data-testid="stToolbar"] {{ display: none; }}
[data-testid="stMain"] {{ --scale: {SCREEN}; overflow: hidden; align-items: flex-start; }}
[data-testid="stMainBlockContainer"] {{ width: 1920px; max-width: none; flex: none; padding: 1.8rem 2.5rem 0; }}
[data-testid="stMainBlockContainer"] {{ transform: scale(var(--scale)); transform-origin: 0 0; }}
.st-key-sentence {{ min-height: 7.2rem; justify-content: center; }}
.st-key-sentence h1 {{ font-size: 2.7rem; line-height: 1.25; padding: 0; }}
.st-key-picture {{ min-height: 780px; }}
.st-key-picture:has([data-testid="stPlotlyChart"]) {{ width: calc(1840px / var(--scale)); }}
.st-key-picture :has([data-testid="stPlotlyChart"]), .st-key-picture [data-testid="stPlotlyChart"] {{
  width: calc(1840px / var(--scale)) !important; height: calc(760px / var(--scale)) !important; }}
.st-key-picture table {{ font-size: 1.35rem; line-height: 1.4; }}
.st-key-picture td, .st-key-picture th {{ padding: 0.5rem 1rem; }}
.st-key-picture td *, .st-key-picture th * {{ max-width: none !important; }}
.st-key-picture [data-testid="stCaptionContainer"] p {{ font-size: 1.3rem; }}
[data-testid="stMain"] [data-testid="stCaptionContainer"] p {{ font-size: 1.15rem; }}
.st-key-steps p {{ font-size: 1.15rem; }}
.st-key-clicker {{ display: none; }}
</style>"""
"""What Streamlit has no setting for: no header, and a page of 1920 x 1080 that is drawn as large as the window allows."""
CONFIG = {"displayModeBar": False, "displaylogo": False}


def is_on() -> bool:
    """Whether the link asks for slides instead of the page."""
    return st.query_params.get("present") == "1"


def show_way_in(run: Run | None = None) -> None:
    """The button that turns a result into slides; with a run, the link names it from then on."""
    st.button(
        "Present", key="present", icon=":material/slideshow:", on_click=_enter, args=(run.id if run else None,),
        help="One sentence and one chart per screen, for a projector. Arrow keys step, Esc leaves.",
    )  # fmt: skip


def show_run(run: Run | None, technique: catalog.Technique | None = None) -> NoReturn:
    """The slides of a finished run."""
    if run is None or run.status in job.UNFINISHED:
        show([], [])
    key = technique.key if technique else None
    chosen = st.query_params.get("workload")  # as the page's own box writes it into the link
    workload = next((each for each in run.experiment.workloads if captions.of_workload(each) == chosen), None)
    show(run_slides(run, measured.rows_of(run), key, workload), [run])


def show_together(runs: list[Run]) -> NoReturn:
    """The slide of several runs side by side."""
    show(compared_slides(runs, [row for run in runs for row in labelled(run, measured.rows_of(run))]), runs)


def show_route(steps: list[Step], results: Results) -> NoReturn:
    """The slides of the whole route; `results` are the runs that the page rests on, with their rows."""
    told = [repr(row.workload) for step in steps for row in step.rows]
    told += [step.run.id for step in steps if step.run]
    slides = _of_route((*told, *(_state_of(run) for run, _ in results)), steps, results)
    show(slides, runs_behind(steps), " ".join(run.id for run, _ in results))


def show_comparison(view: View, point: Point, runs: list[Run], contents: str) -> NoReturn:
    """The slides of devices side by side; `runs` are those measured here, `contents` changes when what is compared does."""
    chosen = (view.arms[0].measure, view.reference_label, view.baseline, view.prices)
    show(comparison_slides(view, point, runs), runs, f"{contents} {chosen}")


def show(slides: list[Slide], runs: list[Run], state: str = "") -> NoReturn:
    """The slide that the link names, and nothing else on this page; `runs` and `state` are what the slides were made of."""
    st.html(STYLE)
    if not slides:
        words = "This page has no finished result."
        notices.empty(":material/slideshow:", "Nothing to present here yet", words, key="nothing_to_present")
    place = min(int(st.query_params.get("slide", "1")), max(1, len(slides)))
    for slide in slides[place - 1 : place]:
        _show_slide(slide, (state, *map(_state_of, runs)))
        st.caption(notices.plain(" | ".join(dict.fromkeys(captions.of_versions(run) for run in runs[:3]))))
    _show_buttons(place, len(slides))
    st.stop()


def _show_slide(slide: Slide, made_of: tuple[str, ...]) -> None:
    with st.container(key="sentence"):
        st.markdown(f"# {notices.plain(slide.sentence)}")
    with st.container(key="picture"):
        if slide.table is not None:
            st.table(
                slide.table.rename(columns=notices.plain).map(notices.plain),
                border="horizontal", hide_index=True, alt=slide.sentence,
            )  # fmt: skip
            st.caption(notices.plain(slide.stamp))
        else:
            is_dark = st.context.theme.type == "dark"
            figure, alt = _drawn((slide.key, slide.stamp, str(is_dark), *made_of), slide, is_dark)
            # Streamlit's own theme would grey the text: fine on a screen, too faint on a projector.
            st.plotly_chart(figure, key=f"slide_{slide.key}", config=CONFIG, alt=alt, theme=None)


def _state_of(run: Run) -> str:
    return " ".join((run.id, run.status, run.label, str(len(run.outcomes))))


@st.cache_resource(max_entries=DECKS, show_spinner=False)
def _of_route(key: tuple[str, ...], _steps: list[Step], _results: Results) -> list[Slide]:
    return route_slides(_steps, _results)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _drawn(key: tuple[str, ...], _slide: Slide, _is_dark: bool) -> Drawing:
    figure, alt = _slide.draw()
    large = projector.enlarged(figure, _slide.stamp)
    return theme.in_dark(large) if _is_dark else large, f"{alt} {_slide.stamp}"


def _show_buttons(place: int, count: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="steps"):
        _step("Back", "back", "Left", place - 1, count)
        st.markdown(f"**{place}** of {count}" if count else "")
        _step("Next", "next", "Right", place + 1, count)
        st.space("stretch")
        st.button("Leave", key="leave", icon=":material/close:", type="tertiary", shortcut="Esc", on_click=_leave)
    # Clickers for presenters send these two keys; a button has one shortcut.
    with st.container(key="clicker"):
        _step("Page up", "page_up", "PageUp", place - 1, count)
        _step("Page down", "page_down", "PageDown", place + 1, count)


def _step(label: str, key: str, shortcut: str, to: int, count: int) -> None:
    is_out = not 1 <= to <= count
    st.button(label, key=key, shortcut=shortcut, disabled=is_out, on_click=_go, args=(to,))


def _go(place: int) -> None:
    st.query_params["slide"] = str(place)


def _enter(run_id: str | None) -> None:
    if run_id:
        st.query_params["run"] = run_id
    st.query_params["present"] = "1"


def _leave() -> None:
    for name in ("present", "slide"):
        st.query_params.pop(name, None)
    # Widgets that were not shown have lost their values: they are to take the run's again.
    st.session_state.pop("settings_of", None)
