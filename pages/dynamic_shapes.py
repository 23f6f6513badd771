"""Step 5: sentences of every length."""

from pages.parts import lengths, lengths_story, technique_page

technique_page.show(
    "dynamic-shapes",
    technique_page.Own(
        experiment_of=lengths.experiment_of,
        show_controls=lengths.show_controls,
        differences=lengths.differences,
        show_result=lengths_story.show_result,
        problem=lengths.problem,
    ),
)
