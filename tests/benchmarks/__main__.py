"""`make bench`, or `python -m tests.benchmarks [--server]`: measure and print one Markdown table with the machine's name.

`--server` leaves out the standard run, which takes minutes. Exit code 1 when a promise was not kept.
"""

import sys
from itertools import chain

from engine.runner import describe_machine
from engine.selftest.table import markdown
from tests.benchmarks import compare_scale, runs, server, whole_route

machine = describe_machine()
rows = []
for row in chain(server.rows(), whole_route.rows(), compare_scale.rows()):
    print(f"{row.what}: {row.measured}", file=sys.stderr)
    rows.append(row)
if "--server" not in sys.argv[1:]:
    rows += runs.rows(machine)
print(markdown(machine, rows))
sys.exit(any(row.is_kept is False for row in rows))
