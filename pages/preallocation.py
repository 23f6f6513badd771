"""Step 6: memory made once instead of at every call."""

from pages.parts import technique_page

technique_page.show("preallocation")
