"""Planning: which arms, in which groups, under which process numbers, in which order."""

import pytest

from engine.arms import MAX_CHILDREN, balanced_order, plan, round_order
from engine.catalog import TECHNIQUES, VARIANTS, Variant, find_variant, fits, is_twin
from engine.errors import InvalidSpec, UnknownKey
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.child.fake_child import machine

SHORT = Workload(model="m", batch_size=1, sequence_length=11)
LONG = Workload(model="m", batch_size=1, sequence_length=128)
SMALL = Workload(operator="addcmul", elements=1024)
LARGE = Workload(operator="addcmul", elements=2**20)
EAGER, TWIN = "baseline/eager", "baseline/eager@twin"


@pytest.fixture
def variants(monkeypatch):
    """A catalog of made-up variants beside the real ones."""

    def add(key, **fields):
        monkeypatch.setitem(VARIANTS, key, Variant(key=key, label=key, summary="", code="", **fields))
        return key

    return add


def groups_of(*chosen, workloads=(SHORT,), protocol="standard", on=None):
    experiment = Experiment(workloads=workloads, variants=chosen, protocol=PROTOCOLS[protocol])
    return plan(experiment, on).groups


def keys(group):
    return [arm.variant for arm in group.arms]


def test_the_baseline_and_its_twin_are_always_there(variants):
    (group,) = groups_of(variants("a/x"))
    assert keys(group) == [EAGER, TWIN, "a/x"]
    assert group.workloads == (SHORT,)


def test_a_chosen_baseline_is_not_measured_twice(variants):
    (group,) = groups_of(EAGER, variants("a/x"))
    assert keys(group) == [EAGER, TWIN, "a/x"]


def test_a_baseline_chosen_alone_is_measured_against_its_twin():
    (group,) = groups_of(EAGER)
    assert keys(group) == [EAGER, TWIN]


def test_every_model_workload_has_a_group_of_its_own(variants):
    groups = groups_of(variants("a/x"), workloads=(SHORT, LONG))
    assert [group.workloads for group in groups] == [(SHORT,), (LONG,)]
    assert [group.first_process for group in groups] == [0, 0]


def test_more_than_six_arms_are_split_with_the_baseline_in_each_part_and_the_twin_in_the_first(variants):
    chosen = [variants(f"a/{number}") for number in range(11)]
    groups = groups_of(*chosen)
    assert [keys(group) for group in groups] == [
        [EAGER, TWIN, *chosen[:4]],
        [EAGER, *chosen[4:9]],
        [EAGER, *chosen[9:]],
    ]
    assert max(len(group.arms) for group in groups) == MAX_CHILDREN


@pytest.mark.parametrize(("others", "parts"), [(4, 1), (5, 2), (9, 2), (10, 3)])
def test_groups_are_as_few_as_six_children_allow(variants, others, parts):
    assert len(groups_of(*[variants(f"a/{number}") for number in range(others)])) == parts


def test_process_numbers_of_groups_that_share_a_point_never_meet(variants):
    chosen = [variants(f"a/{number}") for number in range(11)]
    groups = groups_of(*chosen, workloads=(SHORT, LONG))
    assert [(group.workloads[0], group.first_process) for group in groups] == [
        (SHORT, 0),
        (SHORT, 5),
        (SHORT, 10),
        (LONG, 0),
        (LONG, 5),
        (LONG, 10),
    ]


def test_variants_with_different_baselines_are_measured_in_different_groups(variants):
    first, second = variants("a/x"), variants("b/x", baseline=variants("b/plain", baseline="b/plain"))
    groups = groups_of(first, second)
    assert [keys(group) for group in groups] == [[EAGER, TWIN, first], ["b/plain", "b/plain@twin", second]]
    assert [group.first_process for group in groups] == [0, 5]


def test_a_variant_that_serves_many_has_one_child_for_all_lengths_of_a_model(variants):
    dynamic, single = variants("d/dynamic", serves_many=True), variants("a/x")
    groups = groups_of(dynamic, single, workloads=(SHORT, LONG))
    assert [(keys(group), group.workloads, group.first_process) for group in groups] == [
        ([EAGER, TWIN, dynamic], (SHORT, LONG), 0),
        ([EAGER, TWIN, single], (SHORT,), 5),
        ([EAGER, TWIN, single], (LONG,), 5),
    ]


def test_a_baseline_brought_along_by_one_group_is_not_measured_once_more_alone(variants):
    groups = groups_of(EAGER, variants("d/dynamic", serves_many=True), workloads=(SHORT, LONG))
    assert [keys(group) for group in groups] == [[EAGER, TWIN, "d/dynamic"]]


def test_variants_measure_only_the_workloads_they_fit(variants):
    plain = variants("f/plain", subjects=("addcmul",), baseline="f/plain", serves_many=True)
    fused = variants("f/fused", subjects=("addcmul",), baseline=plain, serves_many=True)
    groups = groups_of("torch-compile/default", fused, workloads=(SHORT, SMALL, LARGE))
    assert [(keys(group)[-1], group.workloads) for group in groups] == [
        ("torch-compile/default", (SHORT,)),
        (fused, (SMALL, LARGE)),
    ]


def test_variants_that_fit_no_workload_cannot_start(variants):
    with pytest.raises(InvalidSpec, match="a/x measures any of the chosen workloads"):
        groups_of(variants("a/x"), workloads=(SMALL,))


def test_an_unknown_variant_is_named():
    with pytest.raises(UnknownKey, match="nonsense"):
        groups_of("nonsense")


def test_what_this_machine_cannot_run_takes_no_place_in_a_group(variants):
    chosen = [variants(f"a/{number}") for number in range(4)]
    experiment = Experiment(workloads=(SHORT,), variants=(variants("g/graph", requires=("cuda",)), *chosen))
    made = plan(experiment, machine())
    assert [keys(group) for group in made.groups] == [[EAGER, TWIN, *chosen]]
    (failure,) = made.unavailable
    assert (failure.variant, failure.kind, failure.message) == ("g/graph", "unavailable", "this device has no CUDA")
    assert failure.workloads == (SHORT,)


def test_a_baseline_this_machine_cannot_run_is_missing_once_and_the_others_stay(variants):
    baseline = variants("b/plain", baseline="b/plain", requires=("cuda",))
    made = plan(Experiment(workloads=(SHORT,), variants=(variants("b/x", baseline=baseline),)), machine())
    assert [keys(group) for group in made.groups] == [["b/x"]]
    assert [failure.variant for failure in made.unavailable] == [baseline]


def test_the_order_of_a_round_is_random_but_repeatable():
    orders = [tuple(round_order(7, 0, 0, number, 4)) for number in range(200)]
    assert orders == [tuple(round_order(7, 0, 0, number, 4)) for number in range(200)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    first_places = [order[0] for order in orders]
    assert all(30 <= first_places.count(arm) <= 70 for arm in range(4))


@pytest.mark.parametrize("other", [(8, 0, 0), (7, 1, 0), (7, 0, 1)])
def test_another_seed_process_or_point_gives_other_orders(other):
    rounds = range(20)
    assert [round_order(7, 0, 0, number, 4) for number in rounds] != [round_order(*other, n, 4) for n in rounds]


def test_every_process_set_meets_the_lengths_in_an_order_of_its_own():
    points = [Workload(model="m", batch_size=1, sequence_length=length) for length in range(8, 20)]
    orders = {balanced_order(7, process, points) for process in range(5)}
    assert len(orders) == 5
    assert all(set(order) == set(points) for order in orders)
    assert balanced_order(7, 3, points) == balanced_order(7, 3, points)


@pytest.mark.parametrize("key", sorted(VARIANTS))
def test_every_baseline_of_the_catalog_measures_what_its_variants_measure(key):
    variant = find_variant(key)
    baseline = find_variant(variant.baseline)
    for subject in variant.subjects:
        assert fits(baseline, Workload(operator=subject, elements=8))
    assert bool(baseline.subjects) == bool(variant.subjects)
    assert not is_twin(key)


def test_every_technique_of_the_catalog_can_be_planned():
    for technique in TECHNIQUES:
        operators = tuple(Workload(**fields) for fields in technique.default_workloads)
        chosen = tuple(variant.key for variant in technique.variants)
        groups = groups_of(*chosen, workloads=(SHORT, *operators))
        assert {arm.variant for group in groups for arm in group.arms} >= set(chosen)
