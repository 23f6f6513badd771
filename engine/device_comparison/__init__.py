"""Devices side by side: readings of any origin -> arms, fair ratios between them, and the comparison in a few words.

arm, arms      one device, technique and point; a set's readings -> all arms
fairness       what may be compared with what: full keys, badges, withheld ratios
ratios         speed-ups over each device's own baseline and between devices, with intervals and verdicts
summary        geometric means over common points, cost, one paragraph
table          the rows that page, command line and exports show
"""

from engine.device_comparison.arm import DeviceArm, Point
from engine.device_comparison.arms import devices_of, measures_of, points_of, summarise, variants_of
from engine.device_comparison.fairness import Difference, Joined, Pair, join, pair
from engine.device_comparison.ratios import Ratio, over_arm, over_device, over_own_baseline, ratio, usual_baseline
from engine.device_comparison.summary import (
    Cost,
    Mean,
    cheapest,
    costs,
    geometric_means,
    sentences,
    technique_means,
)

__all__ = [
    "Cost",
    "DeviceArm",
    "Difference",
    "Joined",
    "Mean",
    "Pair",
    "Point",
    "Ratio",
    "cheapest",
    "costs",
    "devices_of",
    "geometric_means",
    "join",
    "measures_of",
    "over_arm",
    "over_device",
    "over_own_baseline",
    "pair",
    "points_of",
    "ratio",
    "sentences",
    "summarise",
    "technique_means",
    "usual_baseline",
    "variants_of",
]
