"""What is clearly faster in the same run is named, whatever page one reads."""

from engine.alternatives import sentence
from engine.headline import leading_row
from engine.stats import Interval
from engine.verdict import Verdict
from tests.unit.test_launches import a_row

TUNED = a_row("max-autotune/freezing", speedup=Interval(2.2, 2.1, 2.3, 5))
ONNX = a_row("runtimes/onnxruntime", speedup=Interval(3.3, 3.2, 3.4, 5))


def test_a_faster_runtime_is_named_on_the_page_of_max_autotune() -> None:
    assert sentence(TUNED, [TUNED, ONNX]) == (
        "Faster in the same run: ONNX Runtime (Other runtimes) at 3.30x [3.20, 3.40] over Eager."
    )


def test_another_precision_is_named_as_other_work() -> None:
    half = a_row("precision/bfloat16-best-cpu", speedup=Interval(5.4, 5.2, 5.6, 5), precision="bfloat16")
    assert sentence(TUNED, [TUNED, half]).endswith(
        "over Eager; it computes in bfloat16 instead of float32, which is other work."
    )


def test_a_bare_replay_neither_leads_a_page_nor_is_named_as_faster() -> None:
    """Guard: it answers the captured input, whatever is asked; the served row is what a user waits for."""
    bare = a_row("cuda-graphs/eager-replay", speedup=Interval(4.0, 3.9, 4.1, 5))
    served = a_row("cuda-graphs/eager-served", speedup=Interval(3.1, 3.0, 3.2, 5))
    assert leading_row([bare, served], "cuda-graphs") is served
    assert leading_row([bare], "cuda-graphs") is bare
    assert "Captured eager, served" in sentence(TUNED, [TUNED, bare, served])


def test_nothing_is_named_that_may_be_no_faster_or_failed_its_checks() -> None:
    close = a_row("runtimes/openvino", speedup=Interval(2.4, 2.2, 2.6, 5))
    wrong = a_row("runtimes/onnxruntime", speedup=Interval(3.3, 3.2, 3.4, 5), verdict=Verdict.WRONG_RESULT)
    quick = a_row("runtimes/onnxruntime", speedup=Interval(3.3, None, None, 1), verdict=Verdict.NO_VERDICT)
    own = a_row("max-autotune/no-cudagraphs", speedup=Interval(3.3, 3.2, 3.4, 5))
    assert sentence(TUNED, [TUNED, close, wrong, quick, own]) == ""
