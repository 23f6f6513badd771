"""The same function timed by our stopwatch and by `torch.utils.benchmark`, taking turns in one process (METHOD 6, T7).

`python -m engine.child.agreement --threads 2` prints JSON: seconds per call of every turn, ours and theirs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from statistics import median
from typing import Any

import torch
from torch.utils.benchmark import Timer

from engine.child.measurement import THROUGHPUT_S, Stopwatch, collector_off
from engine.child.setting import prepare_torch

ROWS, WIDTH = 64, 1024
"""A linear layer and a GELU of this size take about a millisecond: far above the cost of either timer."""


def take_turns(threads: int, turns: int, min_run_s: float) -> dict[str, list[float]]:
    """Medians of both over equally long turns: `torch.utils.benchmark` against our throughput mode, on the CPU."""
    prepare_torch("cpu", threads, "highest")
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())
    inputs = {"x": torch.randn(ROWS, WIDTH)}

    def call(values: dict[str, Any]) -> Any:
        return layer(values["x"])

    feed = itertools.repeat(inputs)
    stopwatch = Stopwatch(synchronize=lambda: None)
    timer = Timer("call(inputs)", globals={"call": call, "inputs": inputs}, num_threads=threads)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    with torch.inference_mode():
        call_s = stopwatch.sample(call, [inputs] * 20).wall_s
        for _ in range(turns):
            with collector_off():
                ours = [stopwatch.throughput(call, feed, call_s) for _ in range(math.ceil(min_run_s / THROUGHPUT_S))]
            times["ours"].append(median(ours))
            times["theirs"].append(timer.blocked_autorange(min_run_time=min_run_s).median)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--min-run-s", type=float, default=2.0)
    arguments = parser.parse_args()
    json.dump(take_turns(arguments.threads, arguments.turns, arguments.min_run_s), sys.stdout)


if __name__ == "__main__":
    main()
