"""Which of many stored runs the whole route rests on: strength before age, one machine, every step and every claim."""

from dataclasses import replace

from engine.basis import basis
from engine.catalog import CLAIMS
from engine.comparison import ClaimWord, compare_run, newest_verdict
from engine.journey import drive, steps
from engine.result import Run
from engine.spec import PROTOCOLS
from engine.store import samples
from tests.many_lengths import many_lengths_run
from tests.pages.made_sweeps import made_preallocation
from tests.unit.hand_made import COMPILED, WORKLOAD, standard_run


def quick_run(run_id: str) -> Run:
    run = standard_run(id=run_id, protocol="quick")
    return replace(run, outcomes=tuple(each for each in run.outcomes if each.process == 0))


def here(run: Run) -> Run:
    """The same run as if the machine of `standard_run` had measured it."""
    return replace(run, environment=standard_run().environment)


def told_by(runs: list[Run], technique: str) -> str | None:
    found = steps([(run, compare_run(run)) for run in basis(runs, WORKLOAD)], WORKLOAD)
    return next(step.run.id for step in found if step.technique.key == technique and step.run)


def test_many_newer_runs_of_one_technique_do_not_push_the_drive_out() -> None:
    whole = replace(standard_run(id="drive"), experiment=drive(WORKLOAD, "cpu", PROTOCOLS["standard"]))
    newer = [standard_run(id=f"newer {number}") for number in range(40)]
    chosen = basis([*newer, whole], WORKLOAD)
    assert whole in chosen and newer[0] in chosen
    assert len(chosen) <= 5


def test_a_stronger_protocol_speaks_before_a_newer_run_and_of_equal_ones_the_newer() -> None:
    runs = [quick_run("quick"), standard_run(id="newer"), standard_run(id="older")]
    assert told_by(runs, "torch-compile") == "newer"
    rigorous = standard_run(id="rigorous", protocol="rigorous")
    assert told_by([*runs, rigorous], "torch-compile") == "rigorous"
    assert told_by(runs[:1], "torch-compile") == "quick"


def test_a_run_that_ended_too_early_for_a_verdict_does_not_hide_an_older_one() -> None:
    early = standard_run(id="early", protocol="rigorous", status="interrupted")
    early = replace(early, outcomes=tuple(each for each in early.outcomes if each.process == 0))
    assert told_by([early, standard_run(id="whole")], "torch-compile") == "whole"


def test_machines_are_never_mixed_and_a_linked_run_says_whose_count() -> None:
    mine = standard_run(id="mine")
    assert mine.environment is not None
    machine = replace(mine.environment.machine, cpu_model="Another CPU")
    other = standard_run(id="other", environment=replace(mine.environment, machine=machine))
    assert basis([mine, other], WORKLOAD) == [mine]
    assert basis([mine, other], WORKLOAD, other) == [other]
    renamed = replace(mine.environment, machine=replace(mine.environment.machine, hostname="after a restart"))
    assert len(basis([mine, standard_run(id="renamed", environment=renamed)], WORKLOAD)) == 2


def test_runs_at_other_points_count_where_only_they_decide_a_claim() -> None:
    lengths = here(many_lengths_run((24, 60, 90)))
    one_length = here(many_lengths_run((11,), id="one length"))
    sweep, drives = here(made_preallocation()), [standard_run(id=f"drive {number}") for number in range(9)]
    chosen = basis([*drives, one_length, lengths, sweep], WORKLOAD)
    assert {run.id for run in chosen} >= {"lengths", "one length", sweep.id}
    claim = next(claim for claim in CLAIMS if claim.key == "no-recompile")
    verdict, run = newest_verdict(claim, [(run, compare_run(run)) for run in chosen])
    assert verdict.word is ClaimWord.HOLDS and run is lengths


def test_a_variant_of_another_technique_does_not_answer_for_a_step() -> None:
    compiled_only = standard_run()
    assert COMPILED in compiled_only.experiment.variants
    assert basis([compiled_only], replace(WORKLOAD, batch_size=8)) == [compiled_only], "it still answers claims"


def test_the_shipped_samples_are_of_one_machine_so_that_the_route_may_use_them_all() -> None:
    known = [run.environment for run in samples() if run.environment]
    assert len({(each.device.name, each.machine.cpu_model, each.machine.usable_cores) for each in known}) == 1
