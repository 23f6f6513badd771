"""A table whose columns have their roles -> readings; every cell that does not count is noted with its row and reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.imports import readings
from engine.imports.numbers import FAILED, FAILED_WORDS, KINDS, NUMBER, PROBLEM, Cells, parse_column
from engine.imports.readings import PHASES, respelled
from engine.imports.table import Table
from engine.imports.understanding import MAX_LISTED, VALUE_ROLES, Column, SetAside
from engine.imports.units import RATE_KINDS, UNITS, find_unit, split_header

_TEXT_ROLES = (
    "device", "model", "operator", "dtype", "phase", "torch", "backend", "precision", "protocol", "cache_state", "driver",
)  # fmt: skip
_INTEGER_ROLES = ("batch_size", "sequence_length", "elements", "process", "round", "call")
_LARGEST_INTEGER = 2.0**53
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class TableReader:
    """One table on its way to readings."""

    table: Table
    columns: tuple[Column, ...]
    decimal_mark: str
    set_aside: list[SetAside] = field(default_factory=list)
    cells_set_aside: int = 0
    _is_noted: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.set_aside = list(self.table.set_aside[:MAX_LISTED])
        self.cells_set_aside = len(self.table.set_aside)
        self._is_noted = np.zeros(len(self.table.cells), bool)

    def read(self) -> pd.DataFrame:
        """All readings, one block of rows per column that holds values."""
        keys = self._text_keys()
        usable = np.ones(len(self.table.cells), bool)
        for role in _INTEGER_ROLES:
            keys[role], is_out = self._integers(role)
            usable &= ~is_out
        keys["memory_bytes"], keys["set_up_s"] = self._quantity("memory"), self._quantity("set_up")
        failed = self._failed_rows()
        values = self._values()
        blocks = [self._block(column, measure, keys, usable, failed) for column, measure in values]
        self._note_empty_rows(values[0][0], blocks)
        self.set_aside.sort(key=lambda cell: cell.row)
        return readings.merge([readings.complete(block) for block in blocks])

    def _note_empty_rows(self, column: Column, blocks: Sequence[pd.DataFrame]) -> None:
        """Rows that hold nothing: no value in any column, a rate of 0; those that were noted for something else are not again."""
        is_kept = self.table.cells.index.isin(np.concatenate([block["row"] for block in blocks]))
        self._leave_out(column, ~(is_kept | self._is_noted), "no value")

    def _role(self, role: str) -> Column | None:
        return next((column for column in self.columns if column.role == role), None)

    def _texts(self, column: Column) -> pd.Series:
        return self.table.cells[column.name]

    def _cells(self, column: Column) -> Cells:
        return parse_column(self._texts(column), self.decimal_mark)

    def _leave_out(self, column: Column, is_out: Mask, reasons: Mapping[str, str] | str) -> None:
        """Note the cells of `column` at `is_out`, with reasons by cell text or one for all."""
        self.cells_set_aside += int(is_out.sum())
        self._is_noted |= is_out
        texts = self._texts(column)
        for position in np.flatnonzero(is_out)[: max(0, MAX_LISTED - len(self.set_aside))]:
            value, row = str(texts.iloc[position]), int(self.table.cells.index[position])
            reason = reasons if isinstance(reasons, str) else reasons.get(value, "")
            self.set_aside.append(SetAside(row=row, column=column.name, value=value, reason=reason))

    def _text_keys(self) -> dict[str, Any]:
        keys: dict[str, Any] = {"row": np.asarray(self.table.cells.index)}
        for role in _TEXT_ROLES:
            if column := self._role(role):
                keys[role] = respelled(self._texts(column), role)
        if "phase" in keys:  # "prefill", "decode": work of its own, not a time of another kind
            keys["phase"] = keys["phase"].where(keys["phase"].isin(PHASES))
        technique = self._role("technique")
        keys["technique"] = respelled(self._texts(technique), "technique") if technique else readings.UNNAMED
        keys["setting"] = self._settings()
        return keys

    def _settings(self) -> Any:
        """ "attention=sdpa, stage=decode": every further column that keeps rows apart, and phases that are none of ours."""
        columns = [column for column in self.columns if column.role == "setting"]
        parts = [[f"{column.name}={cell}" for cell in self._texts(column)] for column in columns]
        if phase := self._role("phase"):
            other = respelled(self._texts(phase), "phase").astype(object)
            parts.append(
                [
                    f"{phase.name}={word}" if is_other else ""
                    for word, is_other in zip(other, other.notna() & ~other.isin(PHASES), strict=True)
                ]
            )
        return [", ".join(filter(None, cells)) or np.nan for cells in zip(*parts, strict=True)] if parts else np.nan

    def _integers(self, role: str) -> tuple[Any, Mask]:
        column = self._role(role)
        nothing = np.zeros(len(self.table.cells), bool)
        if column is None:
            return pd.NA, nothing
        cells = self._cells(column)
        is_number = cells.state == NUMBER
        is_whole = is_number & (cells.value == np.floor(cells.value)) & (np.abs(cells.value) < _LARGEST_INTEGER)
        is_out = (is_number & ~is_whole) | np.isin(cells.state, (PROBLEM, FAILED))
        self._leave_out(column, is_out, f"expected a whole number as {role}")
        return np.where(is_whole, cells.value, np.nan), is_out

    def _quantity(self, role: str) -> Any:
        """Memory or set-up time beside the values; cells without a known unit are left unknown."""
        column = self._role(role)
        if column is None:
            return np.nan
        cells = self._cells(column)
        values = cells.value * self._factors(column, cells)
        return np.where((cells.state == NUMBER) & (values > 0), values, np.nan)

    def _factors(self, column: Column, cells: Cells) -> NDArray[np.float64]:
        """Factor to base units of every cell: its own unit, else the row's, else the column's."""
        usual: Any = UNITS[column.unit].factor if column.unit in UNITS else np.nan
        units = self._role("unit")
        if units and column.role in VALUE_ROLES:
            texts = self._texts(units)
            factors = {text: unit.factor for text in texts.cat.categories if (unit := find_unit(text))}
            in_row = texts.astype(object).map(factors).to_numpy(float)
            usual = np.where(np.isnan(in_row), usual, in_row)
        chosen: NDArray[np.float64] = np.where(np.isnan(cells.factor), usual, cells.factor)
        return chosen

    def _failed_rows(self) -> pd.Series:
        """The word of the status column where it says that the row failed, missing elsewhere."""
        column = self._role("status")
        if column is None:
            return pd.Series(np.nan, index=self.table.cells.index, dtype=object)
        texts = self._texts(column).astype(object)
        return texts.where(texts.str.strip().str.lower().isin(FAILED_WORDS))

    def _values(self) -> list[tuple[Column, str]]:
        """The columns that hold values, each with the measure it belongs to; a second of a kind has its own name."""
        taken: set[tuple[str, str]] = set()
        values = []
        for column in self.columns:
            if column.role not in VALUE_ROLES:
                continue
            measure = readings.LATENCY if column.better == "lower" else readings.RATE
            measure = column.name if column.role == "rate" else measure
            if column.role == "latency" and (measure, column.statistic) in taken:
                measure = column.name
            taken.add((measure, column.statistic))
            values.append((column, measure))
        return values

    def _block(
        self, column: Column, measure: str, keys: dict[str, Any], usable: Mask, failed: pd.Series
    ) -> pd.DataFrame:
        cells = self._cells(column)
        is_rate = column.better == "higher"
        value = cells.value * self._factors(column, cells)
        is_problem = self._problems(column, cells, value, is_rate)
        reason = failed.where(cells.state != FAILED, self._texts(column).astype(object))
        if not is_rate:
            reason = reason.mask(reason.isna() & (value == 0), "0: not run")
        has_failed = reason.notna().to_numpy() & ~is_problem
        has_value = (cells.state == NUMBER) & ~is_problem & ~has_failed & (value > 0)
        block = pd.DataFrame({**keys, "measure": measure, "statistic": column.statistic}, index=self.table.cells.index)
        if column.role == "technique_values":
            block["technique"] = split_header(column.name)[0] or column.name
        block["variant"] = block["technique"]
        block["rate" if is_rate else "latency_s"] = np.where(has_value, value, np.nan)
        block["unit"] = UNITS[column.unit].kind if is_rate and column.unit in UNITS else "seconds"
        block["status"] = pd.Series("failed", index=block.index).where(has_failed)
        block["reason"] = reason.where(has_failed)
        kept: pd.DataFrame = block[usable & (has_value | has_failed)]
        return kept

    def _problems(self, column: Column, cells: Cells, value: NDArray[np.float64], is_rate: bool) -> Mask:
        """Cells that are no such value: text, not finite, negative, in a unit of another kind. Each is noted."""
        allowed = RATE_KINDS if is_rate else ("seconds",)
        is_text = cells.state == PROBLEM
        self._leave_out(column, is_text, cells.reasons)
        wrong_unit = (cells.kind >= 0) & ~np.isin(cells.kind, [KINDS.index(kind) for kind in allowed])
        self._leave_out(column, wrong_unit & ~is_text, f"the unit is not one of {'rates' if is_rate else 'time'}")
        is_number = (cells.state == NUMBER) & ~wrong_unit
        self._leave_out(column, is_number & (value < 0), "negative: below 0 is no time")
        without_unit = is_number & np.isnan(value)
        self._leave_out(column, without_unit, "no unit known for this cell")
        problems: Mask = is_text | wrong_unit | (is_number & (value < 0)) | without_unit
        return problems
