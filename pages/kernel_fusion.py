"""Step 7: one pass over memory instead of several."""

from pages.parts import technique_page

technique_page.show("kernel-fusion")
