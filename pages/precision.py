"""The ladder's top: fewer bits per number."""

from dataclasses import replace

from pages.parts import race_view, technique_page

technique_page.show("precision", replace(technique_page.ONE_MODEL, show_result=race_view.show_result))
