# One command each: `make run`, `make test`. Every target sets up what it needs by itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(VENV)/tools/bin/uv
RUNS := $(VENV)/.ready-run
READY := $(VENV)/.ready
SYSTEM := $(VENV)/.system

# Modules are compiled once: hundreds of tests start processes of their own.
unexport PYTHONDONTWRITEBYTECODE

# An environment knows the folder that it was made in and the Python that it was made with; one that
# was left half-way is no environment.
STALE := $(shell test ! -e $(VENV)/.unfinished && { test ! -e $(VENV)/.place || { test "$$(cat $(VENV)/.place)" = "$$(pwd -P)" && test -e $(BIN)/python; }; } || echo stale)

stale:

.PHONY: course screenshots stale help setup system run test suite test-fast test-full test-clients bench bench-full bench-peers release bundle evidence fmt lint types reference docs lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

# What running needs, and everything; both by the same script, which may be stopped and repeated.
$(RUNS): requirements-run.lock pyproject.toml $(STALE)
	@PYTHON="$(PYTHON)" scripts/set-up run

$(READY): requirements.lock pyproject.toml $(STALE)
	@PYTHON="$(PYTHON)" scripts/set-up all

setup: $(READY) system  ## the environment with all extras and test oracles; Java and Chromium

system: $(SYSTEM)

$(SYSTEM): scripts/system | $(READY)
	@scripts/system

run: $(RUNS)  ## start with the example data
	@$(BIN)/discreet demo

# Lint and types take one core for a minute: beside the tests, not before them.
test: setup  ## lint, types, all tests (ten to fifteen minutes on 2 cores)
	@$(MAKE) --no-print-directory -j3 lint types suite

# More workers than cores: now and then all of them wait for a browser, a limit or a disk.
suite: $(READY)
	$(BIN)/pytest --workers 4 -m "not slow and not clients" tests

test-fast: $(READY)  ## what bare `pytest` runs: no servers
	$(BIN)/pytest --workers 3

test-full: setup lint types  ## the full counts (hours)
	DISCREET_FULL=1 $(BIN)/pytest --workers 3 -m "not clients" tests

test-clients: setup  ## PostgreSQL clients of other languages and Superset, installed into .venv/clients
	scripts/clients
	$(BIN)/pytest -m "clients or not clients" tests/end_to_end/test_clients.py

bench: setup  ## one report with ratios and pictures, build/bench/report.md (at most 30 minutes; ONLY="curator ledger" for sections)
	$(BIN)/python -m benchmarks --again $(ONLY)

bench-full: setup  ## the same with the sizes of docs/benchmarks.md, TPC-H, 100 million rows, all engines
	$(BIN)/python -m benchmarks --full --again --out build/bench-full $(ONLY)

bench-peers: setup  ## the curator and the synthesizer beside other systems, each in its own environment
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.synth --peer all

release: $(READY)  ## dist/: wheel, source archive, bill of materials, licences, hashes
	scripts/release

bundle: release  ## dist/: one archive that installs without network, for this Python and system
	scripts/bundle

screenshots: setup  ## make the pictures of the documents anew: a demo, walked with Chromium
	$(BIN)/python scripts/screenshots.py

evidence: $(READY)  ## write docs/evidence.md anew: every claim with its command and its latest figure
	$(BIN)/python scripts/evidence.py

fmt: $(READY)  ## format
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix-only src tests benchmarks

lint: $(READY)  ## ruff, and nothing in src that nothing uses
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/python scripts/dead_code.py

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

reference: $(READY)  ## write docs/reference from docstrings, help texts and routes; and who imports each folder
	$(BIN)/python scripts/importers.py
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/trusted_base.py
	$(BIN)/python scripts/tour.py

docs: $(READY)  ## build/docs: the documents as a folder of HTML, for any web server or none
	$(BIN)/python scripts/static_docs.py

course: $(READY)  ## write the notebooks from the lessons; with FACTS=1 also the figures that the product works out (15 minutes)
	$(BIN)/python scripts/course.py $(if $(FACTS),--facts)

COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11
lock: $(READY)  ## compile both locks anew from pyproject.toml; the pins of the smaller are those of the larger
	$(COMPILE) --all-extras --group dev --group fuzz pyproject.toml -o requirements.lock
	$(COMPILE) --no-annotate --constraint requirements.lock \
	  --extra fast --extra plot --extra server pyproject.toml -o requirements-run.lock

clean:  ## remove what make made
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
