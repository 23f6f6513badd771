"""GPU tests: marked `gpu`, skipped with what they would have checked where there is no CUDA.

torch is imported in the fixture and not at collection: tests of the UI process look whether anything imported torch.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(autouse=True)
def cuda(request: pytest.FixtureRequest) -> str:
    """The device under test, `cuda:0`."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip(
            f"no CUDA here; would check that {request.function.__name__.removeprefix('test_').replace('_', ' ')}"
        )
    torch.cuda.synchronize()
    return "cuda:0"
