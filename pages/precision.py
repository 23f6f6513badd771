"""The ladder's top: fewer bits per number."""

from pages.parts import technique_page

technique_page.show("precision")
