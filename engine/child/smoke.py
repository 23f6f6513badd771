"""Does this torch have every private interface the measured side reads? What it finds is printed as JSON.

`python -m engine.child.smoke --device cuda:0`. The list is read off this package's own source, so that it cannot drift
from the code. A missing name is no error: whoever reads it reports "unknown". Then one compiled function and, on CUDA, one
captured graph are really run.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PRIVATE = re.compile(r"torch(\.\w+)*\._[a-z]\w*(\.\w+)*")


def _imports(tree: ast.AST) -> dict[str, str]:
    """What each imported local name stands for: `sa` -> `torch._inductor.select_algorithm`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    """The full name an attribute chain spells, empty for any other expression."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _mentioned(tree: ast.AST) -> Iterator[str]:
    """Dotted names in imports, attribute chains and whole string constants (`torch._dynamo.utils:counters` too)."""
    names = _imports(tree)
    yield from names.values()
    for node in ast.walk(tree):
        yield _dotted(node, names)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace(":", ".")


def private_names(folder: Path) -> list[str]:
    """Every private torch name that the Python files in `folder` mention, without those that a longer one contains."""
    names = {
        name
        for path in folder.rglob("*.py")
        if path != Path(__file__)
        for name in _mentioned(ast.parse(path.read_text(encoding="utf-8")))
        if _PRIVATE.fullmatch(name)
    }
    return sorted(name for name in names if not any(other.startswith(name + ".") for other in names))


def exists(name: str) -> bool:
    """Whether the dotted `name` can be reached: modules are imported, the rest are attributes."""
    found: Any = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            break
    else:
        return True
    for attribute in parts[end - 1 :]:
        if not hasattr(found, attribute):
            return False
        found = getattr(found, attribute)
    return True


def _timed(action: Callable[[], Any]) -> str:
    """How `action` went: seconds, or the error's first line, so that one broken technique hides none of the others."""
    started = time.perf_counter()
    try:
        action()
    except (RuntimeError, AssertionError, AttributeError, ImportError, OSError) as error:
        return f"failed: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return f"works ({time.perf_counter() - started:.1f} s)"


def _compile_one_line(device: str) -> None:
    import torch

    with torch.inference_mode():
        x = torch.ones(1024, device=device)
        torch.testing.assert_close(torch.compile(lambda value: value * 2 + 1)(x), x * 3)


def _replay_one_graph(device: str) -> None:
    import torch

    x = torch.ones(1024, device=device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
    x.fill_(2.0)
    graph.replay()
    torch.testing.assert_close(y, x + 1)


def _spin(device: str) -> None:
    import torch

    with torch.cuda.device(device):
        torch.cuda._sleep(1_000_000)  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()


def report(device: str) -> dict[str, Any]:
    """Versions, the private names that are missing, and what really ran on `device`."""
    import torch

    is_cuda = device.startswith("cuda")
    names = private_names(Path(__file__).parent)
    works = {"torch.compile": _timed(lambda: _compile_one_line(device))}
    if is_cuda:
        works["CUDA graph capture and replay"] = _timed(lambda: _replay_one_graph(device))
        works["GPU spin"] = _timed(lambda: _spin(device))
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "device": torch.cuda.get_device_name(device) if is_cuda else "cpu",
        "private_names": len(names),
        "unknown": [name for name in names if not exists(name)],
        "works": works,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    json.dump(report(parser.parse_args().device), sys.stdout)


if __name__ == "__main__":
    main()
