"""Step 3: record the GPU's work once, replay it as one unit."""

from dataclasses import replace

from engine import catalog
from pages.parts import graphs_view, technique_page

OWN = replace(technique_page.ONE_MODEL, show_controls=graphs_view.show_controls, show_result=graphs_view.show_result)

technique_page.show("cuda-graphs", OWN)
graphs_view.show_without_cuda(catalog.find_technique("cuda-graphs"))
