# `make app` serves Latency Lab, `make test` checks all of it; `make help` lists the rest. The README shows the same in plain pip.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help app test check bench selftest gpu-check

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

app: $(VENV)/app.stamp ## Serve http://127.0.0.1:8501
	$(RUN) -m streamlit run app.py

test: $(VENV)/dev.stamp system ## Run every test (a GPU's are skipped where there is none)
	$(RUN) -m pytest tests/unit tests/pages -n auto --dist loadfile
	$(RUN) -m pytest tests/child tests/browser -m beside -n auto --dist loadfile
	$(RUN) -m pytest tests/child tests/gpu -m "not beside"

check: $(VENV)/dev.stamp ## Style, types and unit tests: seconds
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest tests/unit -q

bench: $(VENV)/dev.stamp ## Measure the product itself: start-up, memory, page reruns, runner overhead
	$(RUN) -m tests.benchmarks

selftest: $(VENV)/dev.stamp ## Calibrate the harness on this machine (up to 25 minutes; leave it alone meanwhile)
	$(RUN) -m engine selftest

gpu-check: ## On a GPU box: smoke, GPU tests and first results within 5 minutes, with the torch that is there
	$(if $(wildcard $(RUN)),$(RUN),$(PYTHON)) -m engine gpu-check

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/app.stamp: requirements.txt | $(RUN)
	$(RUN) -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt requirements.txt | $(RUN)
	$(RUN) -m pip install --quiet -r requirements-dev.txt
	@touch $@ $(VENV)/app.stamp

# Debian calls these packages what their commands are called: a browser for tests/browser, a compiler for torch.compile.
.PHONY: system
system:
	@missing=$$(for tool in chromium g++; do command -v $$tool >/dev/null || echo $$tool; done); \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if command -v apt-get >/dev/null && [ $$(id -u) = 0 ]; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	else echo "Not found:" $$missing "- please install; without Chromium the browser tests are skipped, without g++ those that compile fail."; fi
