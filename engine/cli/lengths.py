"""Options of the command line -> the lengths that are measured, and the stream of requests that follows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.catalog import Variant
from engine.catalog.dynamic_shapes import TWELVE_LENGTHS
from engine.cli.console import say_aside
from engine.dynamic_shapes.lengths import default_lengths, longest_of, read_request_file
from engine.dynamic_shapes.requests import (
    REALISTIC_REQUESTS,
    Stream,
    describe,
    realistic_lengths,
    warn_of_shapes,
    within_budget,
)
from engine.errors import InvalidSpec, UnreadableFile
from engine.imports.text import MAX_BYTES
from engine.spec import MAX_REQUESTS, Workload

ARTICLE_LENGTH = 11
"""Tokens of the article's sentence."""


def choose_lengths(
    variants: Sequence[Variant], given: Sequence[int] | None, twelve: bool, device: str
) -> tuple[int, ...]:
    """The lengths given; else several where every variant serves them from one process, else the article's."""
    if given or twelve:
        return (*(given or ()), *(TWELVE_LENGTHS if twelve else ()))
    of_models = [variant for variant in variants if not variant.subjects]
    serve_many = bool(of_models) and all(variant.serves_many for variant in of_models)
    return default_lengths(device) if serve_many else (ARTICLE_LENGTH,)


def choose_requests(
    variants: Sequence[Variant],
    points: Sequence[Workload],
    file: Path | None,
    count: int | None,
    device: str,
) -> Stream:
    """The requests in `file`, else `count` realistic ones, as many as the budget allows; none where no variant takes them."""
    if not _serve_lengths(variants) or (count == 0 and file is None):
        if file is not None:
            raise InvalidSpec("--requests is for variants that serve several lengths. Add --technique dynamic-shapes.")
        return Stream((), 0, device)
    if count is not None and not 0 <= count <= MAX_REQUESTS:
        raise InvalidSpec(f"--request-count is {count:,}; allowed are 0 to {MAX_REQUESTS:,}. Choose one of those.")
    longest = max(point.sequence_length or 1 for point in points)
    if file is not None:
        lengths = read_request_file(file.name, _bytes_of(file), longest_of(points[0].model or ""))
    else:
        lengths = realistic_lengths(longest, REALISTIC_REQUESTS if count is None else count)
    return within_budget(lengths, points[0].batch_size or 1, device)


def say_of(variants: Sequence[Variant], lengths: Sequence[int], stream: Stream) -> None:
    """Where one process serves them: which requests will be answered, and what so many different lengths lead to."""
    if not _serve_lengths(variants):
        return
    say_aside(describe(stream))
    if warning := warn_of_shapes(lengths, stream.lengths):
        say_aside(warning)


def _serve_lengths(variants: Sequence[Variant]) -> bool:
    return any(variant.serves_many and not variant.subjects for variant in variants)


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}. Check the path and its permissions.") from error
