"""Glossary: the words of the other pages, and every number they show."""

import pandas as pd
import streamlit as st

from engine.metrics import FACTS, MEMORY, RATIOS, TIMES
from engine.terms import TERMS

st.title("Glossary")
st.caption("The words of the other pages. Every number has its explanation one hover away there, and all of them here.")

st.subheader("Words")
words = pd.DataFrame([(f"**{term.word}**", term.meaning) for term in TERMS], columns=["word", "what it means here"])
st.table(words, border="horizontal", hide_index=True, alt="Words and what they mean here")

for title, metrics in (("Times", TIMES), ("Ratios", RATIOS), ("Memory", MEMORY), ("Evidence", FACTS)):
    st.subheader(title)
    rows = [(f"**{m.label}**", m.unit.replace("_", " "), m.better, m.meaning, m.source) for m in metrics.values()]
    st.table(
        pd.DataFrame(rows, columns=["name", "unit", "better", "meaning", "source"]),
        border="horizontal",
        hide_index=True,
        alt=f"{title} that the pages show, with unit, direction and meaning",
    )
