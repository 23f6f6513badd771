"""Step 2: torch.compile with its defaults."""

from pages.parts import technique_page

technique_page.show("torch-compile")
