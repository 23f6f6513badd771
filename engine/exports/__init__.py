"""Results taken along: a Markdown table, the report of a run, the meeting pack of the route. Each opens with no network.

All text from outside (labels, notes, model names, messages) is escaped.
"""

from engine.exports.markdown import markdown_table
from engine.exports.markup import figure_markup, standalone
from engine.exports.meeting_pack import meeting_pack
from engine.exports.report import html_report

__all__ = ["figure_markup", "html_report", "markdown_table", "meeting_pack", "standalone"]
