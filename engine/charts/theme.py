"""How every chart looks: the plotly template, one hue per technique, one per device, and what escaping labels need.

Neutral lines (whiskers, the 1.0x line, grids) use one grey that reads on white and on #11161D alike, and text takes its
colour from the template alone, so a chart can change between light and dark without being drawn again.
"""

from __future__ import annotations

import colorsys
import html
import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import plotly.io as pio

from engine.catalog import TECHNIQUES, find_technique, find_variant
from engine.errors import UnknownKey

TEMPLATE = "plotly_white+latency_lab"
DARK_TEMPLATE = "plotly_dark+latency_lab+latency_lab_dark"

PALETTE = (
    "#8A94A3", "#0B84C6", "#7A5CC4", "#E07B00", "#00966D",
    "#C2478B", "#A88B00", "#D1495B", "#4C7A8C", "#6B4E3D",
)  # fmt: skip
"""One hue per technique in the journey's order, or per device; each reads on white and on #11161D."""

NEUTRAL = "#7D8896"
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", "Segoe UI", "Helvetica Neue", sans-serif'
TEXT_SIZE = 14
TITLE_SIZE = 16
SUBTITLE_SIZE = 13
LABEL_WIDTH = 40
"""Characters in a line of a row's label; it may have two lines."""
SUBTITLE_WIDTHS = {False: 62, True: 140}
"""Characters in a line under the title of a chart that fills half a page, and of one that fills it."""
HEADING_HEIGHT, SUBTITLE_LINE, LEGEND_HEIGHT, LEGEND_LINE = 40, 18, 30, 22
LEGEND_WIDTHS = {False: 380, True: 900}
LEGEND_MARK_WIDTH, CHARACTER_WIDTH = 46, 7.4
"""Pixels: legends beside an axis, the line in front of a label, and one character of it."""
PLOT_HEIGHT = 290
"""Pixels of a chart that stands beside another one; without heading."""
ROW_HEIGHT, AXIS_HEIGHT = 46, 64
"""Pixels per row of a horizontal chart; below it the labels of neighbouring rows touch."""

# Up to three variants of a technique differ by lightness; further ones repeat the steps with a pattern and a dashed line.
_LIGHTNESS_STEPS = (0.0, 0.14, -0.13)
_PATTERNS = ("", "/", ".", "x", "-")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def _template(text: str, background: str, grid: str) -> go.layout.Template:
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": True, "ticks": ""}
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": TEXT_SIZE, "color": text},
            "title": {"font": {"size": TITLE_SIZE, "color": text}, "x": 0, "xanchor": "left"},
            "paper_bgcolor": background,
            "plot_bgcolor": background,
            "colorway": list(PALETTE),
            "hoverlabel": {"font": {"family": FONT, "size": TEXT_SIZE}},
            "xaxis": axis,
            "yaxis": axis,
        }
    )


pio.templates["latency_lab"] = _template("#1B2430", "#FFFFFF", "#E3E7EC")
pio.templates["latency_lab_dark"] = _template("#E6EBF1", "#11161D", "#2B3541")


@dataclass(frozen=True, slots=True)
class Style:
    """How one variant is drawn: hue by technique, lightness and then pattern (bars) or dash (lines) by variant."""

    colour: str
    pattern: str = ""
    dash: str = "solid"


def technique_colour(technique: str) -> str:
    """The hue of a technique; one that the catalog does not know (an uploaded file's) has the tenth."""
    return next((known.colour for known in TECHNIQUES if known.key == technique), PALETTE[-1])


def device_colour(position: int) -> str:
    """The hue of the device at `position` in a comparison; the grey of the baseline comes last, not first."""
    hues = (*PALETTE[1:], PALETTE[0])
    return hues[position % len(hues)]


def variant_style(key: str) -> Style:
    """The style of a variant: always the same one, on every page."""
    try:
        variant = find_variant(key)
    except UnknownKey:
        return Style(technique_colour(key.split("/", 1)[0]))
    is_baseline = variant.key == variant.baseline
    family = find_technique(variant.technique).variants
    siblings = [known.key for known in family if (known.key == known.baseline) == is_baseline]
    turn, step = divmod(siblings.index(variant.key), len(_LIGHTNESS_STEPS))
    # What others are divided by is grey on every page.
    hue = PALETTE[0] if is_baseline else technique_colour(variant.technique)
    colour = _lightened(hue, _LIGHTNESS_STEPS[step])
    return Style(colour, _PATTERNS[turn % len(_PATTERNS)], _DASHES[turn % len(_DASHES)])


def _lightened(colour: str, step: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    changed = colorsys.hls_to_rgb(hue, min(0.82, max(0.22, lightness + step)), saturation)
    return "#" + "".join(f"{round(channel * 255):02X}" for channel in changed)


def transparent(colour: str, opacity: float) -> str:
    """`#RRGGBB` and an opacity as plotly wants them together."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def escaped(text: str) -> str:
    """`text` shown as it is: plotly reads tags, entities and, between two dollar signs, LaTeX in every label."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def new_figure(title: str, height: int, subtitle: str = "", wide: bool = False) -> go.Figure:
    """An empty figure with the template; title and `subtitle` (model, shape, device, date) at the left, above the plot.

    `height` is that of plot and axis; the heading adds to it. A `wide` figure fills a page, another one half of it.
    """
    lines = wrapped(in_whole_parts(subtitle), SUBTITLE_WIDTHS[wide], 4)
    heading = {
        "text": f"<b>{escaped(title)}</b>",
        "subtitle": {"text": "<br>".join(lines), "font": {"size": SUBTITLE_SIZE, "color": NEUTRAL}},
        "font": {"size": TITLE_SIZE},
        "x": 0, "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 6, "l": 2},
    }  # fmt: skip
    top = HEADING_HEIGHT + SUBTITLE_LINE * len(lines)
    figure = go.Figure()
    return figure.update_layout(
        template=TEMPLATE,
        title=heading,
        height=height + top,
        margin={"l": 0, "r": 16, "t": top, "b": 8},
        font={"size": TEXT_SIZE},
        showlegend=False,
    )


def in_whole_parts(caption: str) -> str:
    """A caption whose lines end between its parts: no-break spaces keep each part in one piece."""
    return caption.replace(" ", "\u00a0").replace("\u00a0·\u00a0", "\u00a0· ")


def wrapped(text: str, width: int, most: int) -> list[str]:
    """`text` escaped, in at most so many lines of at most so many characters; what does not fit ends in dots."""
    return [escaped(line) for line in textwrap.wrap(text, width, max_lines=most, placeholder=" ...")]


def add_legend(figure: go.Figure, lines: int = 1) -> go.Figure:
    """One legend in lines of its own between title and plot."""
    top = figure.layout.margin.t
    legend = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "title": None,
        "font": {"size": TEXT_SIZE},
    }
    needed = LEGEND_HEIGHT + LEGEND_LINE * (lines - 1)
    figure.update_layout(showlegend=True, legend=legend, margin={"t": top + needed})
    return figure.update_layout(height=figure.layout.height + needed)


def legend_lines(labels: Iterable[str], wide: bool = False) -> int:
    """Lines that a legend of these labels takes: side by side where they fit, else in columns as wide as the longest."""
    widths = [LEGEND_MARK_WIDTH + CHARACTER_WIDTH * len(label) for label in labels]
    room = LEGEND_WIDTHS[wide]
    if sum(widths) <= room:
        return 1
    return math.ceil(len(widths) / max(1, int(room / max(widths))))


def rows_height(rows: int) -> int:
    """Pixels that so many rows and an axis need."""
    return AXIS_HEIGHT + ROW_HEIGHT * rows


def label_rows(figure: go.Figure, labels: Sequence[str]) -> None:
    """Rows 0, 1, 2 ... from the top, each with its label, in the given order."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=["<br>".join(wrapped(label, LABEL_WIDTH, 2)) for label in labels],
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        tickfont={"size": TEXT_SIZE},
        fixedrange=True,
    )


def in_dark(figure: go.Figure) -> go.Figure:
    """The same figure for a dark page that does not bring a theme of its own (slides, printed screens)."""
    return go.Figure(figure).update_layout(template=DARK_TEMPLATE)


def add_words(figure: go.Figure, x: float, y: float, words: str) -> None:
    """`words` (escaped already, plotly's tags allowed) a little to the right of a mark."""
    figure.add_annotation(
        x=x, y=y, text=words, showarrow=False, xanchor="left", xshift=12, align="left", font={"size": TEXT_SIZE}
    )
