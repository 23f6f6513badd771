"""The same model in another runtime."""

from dataclasses import replace
from functools import partial

from pages.parts import driving_view, result, technique_page

show_result = partial(result.show, story=driving_view.show)
technique_page.show("runtimes", replace(technique_page.ONE_MODEL, show_result=show_result))
