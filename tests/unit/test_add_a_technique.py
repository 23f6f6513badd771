"""The page on adding a technique names files, names and rules that exist, and stays one page."""

import re
from pathlib import Path

import pytest

from engine import catalog, metrics, proof
from engine.catalog.types import Technique, Variant

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "engine" / "catalog" / "ADD_A_TECHNIQUE.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", PAGE)


@pytest.mark.parametrize("path", sorted({word for word in QUOTED if re.fullmatch(r"[\w/]+\.py", word)}))
def test_every_file_it_names_exists(path: str) -> None:
    assert (ROOT / path).is_file()


def test_names_of_the_code_in_it_are_those_of_the_code() -> None:
    assert catalog.TECHNIQUES and proof.RULES and metrics.FACTS
    for field in ("baseline", "code", "requires", "in_drive", "builds_on", "proofs"):
        assert f"{field}`" in PAGE
        assert field in Variant.__dataclass_fields__
    assert "page" in Technique.__dataclass_fields__
    applied = (ROOT / "engine" / "child" / "techniques" / "__init__.py").read_text(encoding="utf-8")
    assert "class Applied" in applied and "    call: Call\n" in applied and "    facts: " in applied


def test_the_example_has_exactly_the_files_that_the_table_names() -> None:
    example = catalog.find_technique("torch-compile")
    assert f"`pages/{example.page}`" in PAGE
    rules = {proof.RULES[name] for variant in example.variants for name in variant.proofs}
    assert rules and "`engine/proof/compiler.py`" in PAGE


def test_it_is_one_page() -> None:
    assert len(PAGE.splitlines()) < 60
