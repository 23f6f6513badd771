"""Sentences to the reader: text from elsewhere shown as it is, and the one place where a `UserError` ends."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.errors import UserError

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&\"'=^/@])")
# Bare addresses, `:icons:` and arrows are found after escapes are resolved; an invisible word joiner inside stops that.
_FOUND_LATE = re.compile(r"(?i)(:|@|www|-(?=[->])|<(?=-))")


def plain(text: str) -> str:
    """`text` for use inside Markdown, shown letter by letter: no formatting, links, LaTeX, icons or colours."""
    one_line = " ".join(text.split())
    return _MARKDOWN.sub(r"\\\1", _FOUND_LATE.sub("\\1\u2060", one_line))


def greyed(markdown: str) -> str:
    """Markdown in grey: a number that should not be read as one yet."""
    return f":gray[{markdown}]"


def explained(label: str, meaning: str | None) -> str:
    """`label` as Markdown that tells its meaning on hover and leads to the glossary; the label alone without a meaning."""
    return f'[{plain(label)}](glossary "{meaning}")' if meaning else plain(label)


def empty(icon: str, title: str, words: str, key: str = "empty") -> DeltaGenerator:
    """What will be here, in the one look that empty places have; put the button that fills it into what this returns."""
    box = st.container(border=True, key=key)
    box.markdown(f"##### {icon} {title}")
    box.markdown(words)
    return box


@contextmanager
def user_errors() -> Iterator[None]:
    """Show a `UserError` of the block once, as a sentence, and go no further. A bug is not caught."""
    try:
        yield
    except UserError as error:
        show_error(str(error))
        st.stop()


def show_error(sentence: str) -> None:
    """What is wrong, what is allowed, what to do. The sentence may quote foreign text, so it is never read as Markdown."""
    with st.container(border=True, key="user-error"):
        st.badge("This did not work", icon=":material/error:", color="red")
        st.text(sentence)


def show_warning(sentence: str) -> None:
    """Something was set right without asking, or deserves a second look; the page goes on."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("Note", icon=":material/info:", color="orange")
        st.text(sentence)
