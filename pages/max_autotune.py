"""Step 4: time candidates per operation, keep the fastest."""

from pages.parts import technique_page

technique_page.show("max-autotune")
