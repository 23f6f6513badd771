"""Step 3: record the GPU's work once, replay it as one unit."""

from pages.parts import technique_page

technique_page.show("cuda-graphs")
