"""Step 6: memory made once instead of at every call."""

from functools import partial

from engine import catalog
from pages.parts import preallocation_view, sweep_controls, technique_page

TECHNIQUE = catalog.find_technique("preallocation")

technique_page.show(
    TECHNIQUE.key,
    technique_page.Own(
        experiment_of=sweep_controls.experiment_of,
        show_controls=sweep_controls.show,
        differences=partial(sweep_controls.differences, TECHNIQUE),
        show_result=preallocation_view.show,
        problem=partial(sweep_controls.problem, TECHNIQUE),
    ),
)
