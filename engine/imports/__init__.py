"""Other tools' result files -> the same readings, one file per format; a file's format is found by its content.

text, delimiters, table, stacked_tables, large_table    bytes -> text -> cells
headers, roles, numbers, units          what a column and a cell mean
understanding                           what was understood, what is asked, what a person corrected
readings                                the frame that all formats end in
latency_lab, dynamo, optimum, hyperfine, pytest_benchmark, google_benchmark, any_table    the formats
"""

from engine.imports.reading import read
from engine.imports.understanding import Corrections, Imported, Question, Understanding

__all__ = ["Corrections", "Imported", "Question", "Understanding", "read"]
