"""A C++ compiler that refuses generated code, for real: the failure carries the line that says why, the log the rest."""

from pathlib import Path

import pytest

from engine.messages import Failed
from tests.child.measured import MeasuredChild, point, set_up

pytestmark = pytest.mark.beside

REFUSING = """\
#!/bin/sh
case "$*" in
*.cpp*)
    printf 'In file included from made.h:1:\\nkernel.cpp:3:10: fatal error: omp.h: No such file or directory\\n' >&2
    exit 1 ;;
esac
exec c++ "$@"
"""


def test_a_compiler_that_refuses_is_quoted_with_its_first_error(tiny_model: Path, tmp_path: Path) -> None:
    """Guard: the complaint in `_first_line`; torch's message begins with its own headers and a command of several screens."""
    compiler = tmp_path / "refusing-c++"
    compiler.write_text(REFUSING)
    compiler.chmod(0o755)
    with MeasuredChild(tmp_path, CXX=str(compiler)) as child:
        failed = child.measure(set_up(point(tiny_model), variant="torch-compile/default"))
        assert "fatal error: omp.h" in child.log()
    assert isinstance(failed, Failed), failed
    assert (failed.stage, failed.failure_kind) == ("first_call", "error")
    assert failed.message.endswith(": kernel.cpp:3:10: fatal error: omp.h: No such file or directory")
    assert "\n" not in failed.message
