"""Step 1: the model as it is."""

from pages.parts import technique_page

technique_page.show("baseline")
