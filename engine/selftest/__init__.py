"""Who checks the checker: known truths sent through the real runner and statistics (METHOD 6). `python -m engine selftest`.

The measured programs are spins of a known length (`spin_child`), so that a wrong ratio is the harness's fault and nobody
else's; then real A/A pairs of a model, and other people's timers taking turns with ours.
"""
