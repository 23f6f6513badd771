"""Step 5: sentences of every length."""

from pages.parts import technique_page

technique_page.show("dynamic-shapes")
