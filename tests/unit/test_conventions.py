"""The house rules, checked on the source itself: who may import whom, sizes, names, and that lists and files agree."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine import catalog, proof

ROOT = Path(__file__).resolve().parents[2]
ENGINE = sorted((ROOT / "engine").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
PAGE_PARTS = sorted((ROOT / "pages" / "parts").rglob("*.py"))
CODE = [ROOT / "app.py", *ENGINE, *PAGES, *PAGE_PARTS]

# What may import a library that is heavy, or that would tie two worlds together. Everybody else may not, not even in a function.
HOMES = {
    "torch": ("engine/child/",),
    "transformers": ("engine/child/",),
    "streamlit": ("app.py", "pages/"),
    "plotly": ("engine/charts/", "engine/exports/", "pages/"),
    "sqlite3": ("engine/store.py", "engine/store/"),
}
# The engine's own layers. A file whose path starts with the key never imports the modules on the right.
MEASURING = ("engine.runner", "engine.worker", "engine.child", "pages")
FORBIDDEN = {
    "engine/": ("pages", "app", "tests"),
    "engine/charts/": MEASURING,
    "engine/imports/": MEASURING,
    "engine/comparison": MEASURING,
    "engine/store": MEASURING,
    "engine/stats": MEASURING,
    "engine/proof": MEASURING,
    "engine/verdict": MEASURING,
    "engine/runner": ("engine.child", "engine.worker", "engine.store", "engine.charts"),
    "engine/child/": (
        "engine.runner",
        "engine.worker",
        "engine.store",
        "engine.charts",
        "engine.stats",
        "engine.comparison",
    ),
    "engine/catalog/": (*MEASURING, "engine.stats", "engine.store", "engine.charts"),
    "pages/": ("threading", "multiprocessing", "engine.child", "engine.runner"),
}
SHAPELESS_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|manager)(_|$)", re.IGNORECASE)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports_of(path: Path) -> set[str]:
    """Every module `path` names in an import anywhere, functions included: `from engine import x` counts as `engine.x` too."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def breaches(path: Path, name: str) -> Iterator[str]:
    """Which rules the imports of the file called `name` (relative to the root) break, as sentences."""
    for module in sorted(imports_of(path)):
        for library, homes in HOMES.items():
            if is_within(module, library) and not name.startswith(homes):
                yield f"{name} imports {module}; only {' and '.join(homes)} may"
        for prefix, forbidden in FORBIDDEN.items():
            if name.startswith(prefix) and any(is_within(module, package) for package in forbidden):
                yield f"{name} imports {module}; files under {prefix} may not"


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_import_keeps_to_the_layers() -> None:
    assert [breach for path in CODE for breach in breaches(path, relative(path))] == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine/store/runs.py", "def read():\n    import torch.cuda"),
        ("engine/worker/supervisor.py", "import streamlit as st"),
        ("engine/verdict.py", "from engine import runner"),
        ("engine/runner/rounds.py", "from engine.child.memory import MemoryMeter"),
        ("engine/child/memory.py", "import engine.runner"),
        ("engine/comparison.py", "import plotly.graph_objects as go"),
        ("pages/results.py", "from threading import Thread"),
        ("pages/parts/run.py", "import sqlite3"),
        ("engine/formatting.py", "from pages.parts import controls"),
    ],
)
def test_an_import_across_the_layers_is_found(tmp_path: Path, name: str, source: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    assert list(breaches(path, name))


@pytest.mark.parametrize("path", [*ENGINE, *PAGE_PARTS], ids=relative)
def test_engine_files_and_page_parts_stay_under_250_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 250


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_page_files_stay_under_120_lines_and_define_no_class(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 120
    # Streamlit re-executes a page on every rerun: a class in it would be a new type each time.
    assert [node.name for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)] == []


def test_no_module_or_class_is_called_utils_helpers_common_or_manager() -> None:
    classes = {
        f"{relative(path)}: {node.name}"
        for path in CODE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and SHAPELESS_NAMES.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name))
    }
    parts = {part for path in CODE for part in path.relative_to(ROOT).with_suffix("").parts}
    assert classes | {part for part in parts if SHAPELESS_NAMES.search(part)} == set()


def test_the_engine_prints_only_from_its_command_lines() -> None:
    speaks = [
        relative(path)
        for path in ENGINE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert [path for path in speaks if not path.startswith(("engine/__main__.py", "engine/cli"))] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [relative(path) for path in CODE if tree_of(path).body and not ast.get_docstring(tree_of(path))] == []


@pytest.mark.parametrize("variant", catalog.VARIANTS.values(), ids=lambda variant: variant.key)
def test_a_variant_has_its_technique_its_baseline_and_rules_that_exist(variant: catalog.Variant) -> None:
    technique = catalog.find_technique(variant.technique)
    assert variant in technique.variants
    assert variant.baseline in catalog.VARIANTS
    assert set(variant.proofs) <= set(proof.RULES) | proof.ALLOWANCES
    assert set(variant.requires) <= set(catalog.REQUIREMENTS)
    assert variant.label and variant.summary and variant.code


def test_variant_keys_are_unique() -> None:
    keys = [variant.key for technique in catalog.TECHNIQUES for variant in technique.variants]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("subject", [None, *sorted({each for v in catalog.VARIANTS.values() for each in v.subjects})])
def test_labels_of_variants_that_can_meet_at_one_workload_differ(subject: str | None) -> None:
    """Tables of a workload have a column per label. None: every model."""
    variants = catalog.VARIANTS.values()
    labels = [each.label for each in variants if (subject in each.subjects if subject else not each.subjects)]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("claim", catalog.CLAIMS, ids=lambda claim: claim.key)
def test_a_claim_names_techniques_and_variants_that_exist(claim: catalog.Claim) -> None:
    assert claim.technique in {technique.key for technique in catalog.TECHNIQUES}
    assert {claim.variant, claim.baseline} - {None} <= set(catalog.VARIANTS)


def test_every_technique_has_its_page_and_every_page_is_in_the_navigation() -> None:
    technique_pages = {technique.page for technique in catalog.TECHNIQUES}
    existing = {path.name for path in PAGES}
    assert technique_pages <= existing
    named_by_the_router = set(re.findall(r"\b\w+\.py\b", (ROOT / "pages" / "router.py").read_text()))
    assert existing - technique_pages - {"router.py", "__init__.py"} <= named_by_the_router


def test_every_chart_and_table_on_a_page_says_in_words_what_it_shows() -> None:
    silent = [
        f"{relative(path)}:{node.lineno}"
        for path in (*PAGES, *PAGE_PARTS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("plotly_chart", "table", "dataframe", "data_editor")
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "st"
        and not any(keyword.arg == "alt" for keyword in node.keywords)
    ]
    assert silent == []


def tracked_files() -> set[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def tree_in_the_readme() -> set[str]:
    """Paths of the README's file tree: two spaces of indent per level, folders end with a slash, then the description."""
    block = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .rpartition("## Files")[2]
        .partition("```")[2]
        .partition("```")[0]
    )
    paths, folders = set(), []
    for line in filter(str.strip, block.splitlines()[1:]):
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0]
        folders[depth:] = [name]
        paths.add("".join(folders))
    return paths


def test_the_readmes_tree_names_exactly_the_files_there_are() -> None:
    named = tree_in_the_readme()
    folders = tuple(
        name for name in named if name.endswith("/") and not any(o != name and o.startswith(name) for o in named)
    )
    unnamed = {name for name in tracked_files() - named if not name.startswith(folders or ("\0",))}
    assert {name for name in unnamed if not name.endswith("__init__.py")} == set()
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_every_section_of_the_method_that_the_code_cites_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^### METHOD (\d+(?:\.\d+)?)", text, re.M)) | set(
        re.findall(r"^- \*\*(\d\.\d+)", text, re.M)
    )
    cited = {
        (relative(path), number) for path in CODE for number in re.findall(r"METHOD (\d+(?:\.\d+)?)", path.read_text())
    }
    assert {citation for citation in cited if citation[1] not in sections} == set()


def requirements(name: str) -> dict[str, str]:
    """Package -> version range of one requirements file."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    matches = (re.match(r"([\w.-]+)(.*)", line) for line in lines if line and not line.startswith("-"))
    return {match[1].lower(): match[2] for match in matches if match}


def test_torch_is_pinned_exactly_and_every_other_requirement_has_a_lower_bound() -> None:
    runtime = requirements("requirements.txt")
    assert re.fullmatch(r"==\d+\.\d+\.\d+", runtime["torch"])
    assert {name for name, versions in runtime.items() if not re.match(r"[=>]=\d", versions)} == set()


def test_a_gpu_box_needs_the_same_versions_and_neither_torch_nor_a_browser_side() -> None:
    everywhere = {**requirements("requirements.txt"), **requirements("requirements-dev.txt")}
    box = requirements("requirements-gpu.txt")
    assert {name: everywhere.get(name) for name in box} == box
    assert not {"torch", "streamlit", "plotly"} & set(box)
