"""What a failed child leaves as the outcome of its arm: its own words, and the size where it could not name one."""

from engine.arms import Arm
from engine.result import FailureKind
from engine.runner.child_end import explain_end
from engine.runner.child_process import ChildFailed
from engine.runner.failures import child_failure
from engine.spec import Workload

KILLED = -9
POINT = Workload(model="distilbert-base-uncased", batch_size=64, sequence_length=512)
SIZES = tuple(Workload(operator="addcmul", elements=elements) for elements in (2**10, 2**30, 2**20))


def message_of(kind: FailureKind, message: str, *workloads: Workload) -> str:
    arm = Arm(variant="baseline/eager", workloads=workloads)
    failure = child_failure(arm, 2, ChildFailed("first_call", kind, message, "last words"), "logs/one.log")
    assert (failure.kind, failure.stage, failure.process, failure.log_tail) == (kind, "first_call", 2, "last words")
    return failure.message


def test_a_child_that_the_system_killed_for_memory_is_told_with_the_size_it_measured() -> None:
    """Guard: `_with_size`. "Choose a smaller batch size" must say smaller than what."""
    message = message_of(*explain_end(KILLED, "", kills_by_kernel=1), POINT)
    assert message == (
        "The system ran out of memory and killed the measured process. Choose a smaller batch size or sequence length, or "
        "free memory. It was measuring distilbert-base-uncased · batch 64 · 512 tokens · float32."
    )


def test_of_many_sizes_the_largest_is_named() -> None:
    message = message_of(*explain_end(-6, "std::bad_alloc", kills_by_kernel=0), *SIZES)
    assert message.endswith(
        "It was measuring 3 workloads, the largest a + value * (b * c) · 1,073,741,824 elements · float32."
    )


def test_a_size_that_was_named_is_not_named_again() -> None:
    told = "Out of memory at batch 64, length 512, float32. Choose a smaller size."
    assert message_of("out_of_memory", told, POINT) == told
    assert message_of(*explain_end(3, "", kills_by_kernel=0), POINT) == explain_end(3, "", kills_by_kernel=0)[1]
