"""Samples frame to the few numbers a latency chart draws; the samples themselves stay on the server."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def steady_quantiles(samples: pd.DataFrame, variants: Sequence[str], shares: Sequence[float]) -> dict[str, Floats]:
    """Per variant with timed calls the seconds (shares,) below which those shares of its calls lie; `variants`' order."""
    steady = samples[samples["phase"] == "steady"]
    by_variant = {str(variant): part["latency_s"] for variant, part in steady.groupby("variant", observed=True)}
    return {
        variant: np.quantile(by_variant[variant].to_numpy(float), shares)
        for variant in variants
        if variant in by_variant
    }


def first_process(samples: pd.DataFrame, variants: Sequence[str]) -> dict[str, Floats]:
    """Per measured variant the seconds (calls,) of its first process set, in the order the calls happened."""
    by_variant = {
        str(variant): part.loc[part["process"] == part["process"].min(), "latency_s"].to_numpy(float)
        for variant, part in samples.groupby("variant", observed=True)
    }
    return {variant: by_variant[variant] for variant in variants if variant in by_variant}


def single_calls(samples: pd.DataFrame, variants: Sequence[str]) -> dict[str, int]:
    """Per variant with timed calls how many of them were timed one by one: none where a sample is the mean of several."""
    steady = samples[samples["phase"] == "steady"]
    counts = {
        str(variant): len(part) if bool((part["calls_per_sample"] == 1).all()) else 0
        for variant, part in steady.groupby("variant", observed=True)
    }
    return {variant: counts[variant] for variant in variants if variant in counts}
