"""The same model in another runtime."""

from pages.parts import technique_page

technique_page.show("runtimes")
