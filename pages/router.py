"""Entry page: configuration, navigation from the catalog, and the choices every page shares. `app.py` serves this file."""

from pathlib import Path

import streamlit as st

from engine import catalog, worker
from pages.parts import controls, link, notices, present

FAVICON = Path(__file__).parent / "favicon.svg"
JOURNEY = st.Page("journey.py", title="The journey", icon=":material/conversion_path:", default=True)
TECHNIQUES = [
    st.Page(each.page, title=each.title, icon=each.icon, url_path=each.key, help=each.summary)
    for each in catalog.TECHNIQUES
]
RESULTS = st.Page("results.py", title="Results", icon=":material/database:", help="Every run: open, compare, export.")
COMPARE = st.Page(
    "compare.py", title="Compare devices", icon=":material/compare_arrows:", help="Result files side by side."
)
PITFALLS = st.Page(
    "pitfalls.py",
    title="Pitfalls",
    icon=":material/release_alert:",
    help="The article's stopwatch, one mistake at a time.",
)
GLOSSARY = st.Page("glossary.py", title="Glossary", icon=":material/menu_book:", help="The words of the other pages.")
page = st.navigation(
    {"Start": [JOURNEY], "Techniques": TECHNIQUES, "Results": [RESULTS, COMPARE], "Learn": [PITFALLS, GLOSSARY]},
    expanded=True,
    position="hidden" if present.is_on() else "sidebar",
)
st.set_page_config(page_title=f"{page.title} · Latency Lab", page_icon=str(FAVICON), layout="wide")

with notices.user_errors():
    service = worker.get()
    machine = service.machine()
    link.drop_unusable(service.store, machine)
    controls.prepare(link.shown_run(service.store))
    if not present.is_on():
        with st.sidebar:
            controls.device_and_model(machine)
    if page != GLOSSARY or not present.is_on():
        page.run()
    if present.is_on():  # a page with slides has shown them and stopped by now
        present.show([], [])
