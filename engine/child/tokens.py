"""Inputs of a language model: exactly `input_ids` and `attention_mask`, `(batch, sequence)` each, no padding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from engine.errors import InvalidSpec

TEXTLESS_OFFSET = 1000
"""Without a tokenizer timed inputs are random too; this keeps them apart from those that outputs are compared on."""


@dataclass(frozen=True)
class TokenInputs:
    """Token ids for one shape. Without a tokenizer the text's ids are random too."""

    batch_size: int
    length: int
    text: str
    seed: int
    vocabulary: int
    tokenizer: Any | None

    def random(self, index: int) -> dict[str, torch.Tensor]:
        """Seeded ids inside the vocabulary, another set for every `index`."""
        generator = torch.Generator().manual_seed(self.seed + index)
        ids = torch.randint(0, self.vocabulary, (self.batch_size, self.length), generator=generator)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def timed(self, index: int) -> dict[str, torch.Tensor]:
        """The text, repeated or cut to `length` tokens; each row and each `index` starts at another word of it."""
        if self.tokenizer is None:
            return self.random(TEXTLESS_OFFSET + index)
        rows = torch.arange(self.batch_size) + index
        ids = self._rotations[rows % len(self._rotations)]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    @cached_property
    def _rotations(self) -> torch.Tensor:
        """Ids of the text begun at each of its words: `(words, length)`."""
        words = self.text.split()
        if not words:
            raise InvalidSpec("The text is empty; at least one word is needed. Write a sentence or leave the default.")
        return torch.tensor([self._ids(words[start:] + words[:start]) for start in range(len(words))])

    def _ids(self, words: list[str]) -> list[int]:
        text = " ".join(words * (self.length // len(words) + 1))
        special = self.tokenizer.num_special_tokens_to_add()  # type: ignore[union-attr]
        ids = self.tokenizer(text, truncation=True, max_length=max(self.length, special + 1))["input_ids"]  # type: ignore[misc]
        if not ids:
            raise InvalidSpec(f"The tokenizer makes no tokens of {text[:40]!r}. Choose another text.")
        repeated: list[int] = ids * (self.length // len(ids) + 1)
        return repeated[: self.length]
