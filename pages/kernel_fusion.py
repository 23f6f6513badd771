"""Step 7: one pass over memory instead of several."""

from functools import partial

from engine import catalog
from pages.parts import fusion_view, sweep_controls, technique_page

TECHNIQUE = catalog.find_technique("kernel-fusion")

technique_page.show(
    TECHNIQUE.key,
    technique_page.Own(
        experiment_of=sweep_controls.experiment_of,
        show_controls=sweep_controls.show,
        differences=partial(sweep_controls.differences, TECHNIQUE),
        show_result=fusion_view.show,
        problem=partial(sweep_controls.problem, TECHNIQUE),
    ),
)
