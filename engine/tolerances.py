"""How far an output may be from the float64 reference: torch's own rule, and one for variants that change precision.

Pure numbers, shared by the child (which keeps the worst case) and `engine.proof` (which judges it).
"""

from __future__ import annotations

EAGER_MULTIPLE = {"float16": 3.0, "bfloat16": 3.0}
"""k of METHOD 4 A1: an output's error may be k times eager's own; torch's `same()` uses 3 for half precision, else 2."""
DEFAULT_EAGER_MULTIPLE = 2.0
TOLERANCE = 1e-4 / 10
"""The tol/10 of the same rule, with torch's default tol. It keeps an exact eager result from demanding an exact copy."""

UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "tf32": 2.0**-11}
"""Largest relative error of one rounding in a precision (8, 11 and 11 significant bits)."""
ROUNDOFF_MULTIPLE = 16
"""How many roundings' worth of error a whole model in lower precision may show, relative to the reference's RMS.

Measured on six-layer encoders: 2.5 to 4.5 roundings in bfloat16 and in float16.
"""
MIN_COSINE = 0.99
"""Torch's own limit in cosine mode; used where precision changes, never alone where it does not."""


def allowed_rmse(rmse_eager: float, reference_rms: float, dtype: str) -> float:
    """Largest passing RMSE: k * eager's RMSE + tol/10, the latter relative for outputs smaller than 1.

    Without that last scaling an output of size 1e-6 could be replaced by zeros and pass.
    """
    multiple = EAGER_MULTIPLE.get(dtype, DEFAULT_EAGER_MULTIPLE)
    return multiple * rmse_eager + TOLERANCE * min(1.0, reference_rms)


def allowed_relative_rmse(precision: str) -> float | None:
    """Largest passing RMSE / reference RMS of a variant that computes in `precision`; None for one without a known rounding."""
    unit = UNIT_ROUNDOFF.get(precision)
    return None if unit is None else ROUNDOFF_MULTIPLE * unit
