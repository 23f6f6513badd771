"""The parts of an HTML file that opens with no network: its frame, its charts, its tables. Everything from outside is escaped.

plotly is imported only when a chart or a frame is made.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

import pandas as pd

STYLE = """
body { font: 16px/1.5 "Source Sans 3", "Segoe UI", "Helvetica Neue", sans-serif; color: #1B2430; background: #FFFFFF;
       max-width: 1020px; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { font-weight: 650; line-height: 1.25; } h2 { margin-top: 2.5rem; } .caption { color: #5A6675; }
.lead { font-size: 1.3rem; font-weight: 650; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; width: 100%; } th, td { text-align: left;
       vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #E3E7EC; }
figure { margin: 1.5rem 0; } code { background: #F4F6F8; padding: .5rem; display: block; overflow-x: auto; }
details { margin: .75rem 0; } summary { cursor: pointer; }
@page { size: A4 landscape; margin: 12mm; }
@media print { body { margin: 0 auto; padding: 0; font-size: 13px; } figure, tr, details { break-inside: avoid; }
       h1, h2, h3 { break-after: avoid; } thead { display: table-header-group; }
       code { white-space: pre-wrap; overflow: visible; } }
"""
"""A4 lying is as wide as the body, so that charts drawn on a screen fit the paper too."""
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["sendChartToCloud", "select2d", "lasso2d"],
}
"""Nothing of a result leaves the machine by a button: plotly's own would upload the chart to its makers."""


def standalone(title: str, body: Iterable[str]) -> str:
    """Markup as one HTML file that opens with no network: styles and plotly's code are inside."""
    from plotly.offline import get_plotlyjs

    content = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head>\n<body>\n{content}\n</body></html>\n"
    )


def figure_markup(figure: object, alt: str) -> str:
    """A chart as markup for `standalone`; `alt` is what a screen reader says."""
    from plotly.io import to_html

    drawn = to_html(figure, full_html=False, include_plotlyjs=False, config=CONFIG)
    return f'<figure role="img" aria-label="{html.escape(alt)}">{drawn}</figure>'


def table_markup(frame: pd.DataFrame, header: bool = True) -> str:
    """A frame as an HTML table, every cell escaped."""
    markup: str = frame.to_html(index=False, header=header, border=0, escape=True, na_rep="-")
    return markup


def escaped(words: str) -> str:
    """`words` as HTML that shows them letter by letter."""
    return html.escape(words)
