"""Step 4: time candidates per operation, keep the fastest."""

from dataclasses import replace

from pages.parts import race_view, technique_page

technique_page.show("max-autotune", replace(technique_page.ONE_MODEL, show_result=race_view.show_result))
