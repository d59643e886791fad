# Everything runs in .venv, which `make setup` builds on a bare machine with Python >= 3.11.
.POSIX:
.SUFFIXES:

PYTHON =
ARGS =
# Processes that run tests; 0 for a debugger. Three fill two cores, as many tests wait for a process.
JOBS = 3
SLOW_JOBS = 2
VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.synced
DOCS = build/docs
MEMBERS = kernel server cli testing pages plugins/*
SOURCES = kernel/src server/src cli/src testing/src pages/src plugins/*/src src examples/*/src
PROGRAMS = benchmarks scripts plugins/*/scripts
FITS = import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
UV = env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=$(VENV) UV_PYTHON_DOWNLOADS=never $(BIN)/uv

.PHONY: help setup constraints demo test test-slow lint reference docs bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## build .venv, or bring it up to date; fast when nothing changed
	@$(BIN)/python -m compileall -q $(SOURCES)

# The folder `plugins` is a prerequisite because adding or removing a plugin changes it.
$(STAMP): Makefile constraints.txt pyproject.toml */pyproject.toml plugins plugins/*/pyproject.toml
	@if ! $(BIN)/python -c '$(FITS)' 2>/dev/null; then \
	  for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3 none; do \
	    if $$python -c '$(FITS)' 2>/dev/null; then break; fi; \
	  done; \
	  if [ $$python = none ]; then \
	    echo 'make: no Python >= 3.11 with venv and ensurepip was found.' >&2; \
	    echo 'Install one (Debian, Ubuntu: apt install python3 python3-venv),' >&2; \
	    echo 'or name one: make setup PYTHON=/path/to/python3.12' >&2; \
	    exit 1; \
	  fi; \
	  echo "Building $(VENV) with $$python"; \
	  $$python -m venv --clear $(VENV); \
	fi
	@$(BIN)/python -c 'import uv' 2>/dev/null || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@$(UV) pip install --python $(BIN)/python --compile-bytecode -c constraints.txt \
	  --all-extras --group dev --group speech-model \
	  $$(for member in . $(MEMBERS); do echo "-r $$member/pyproject.toml -e ./$$member"; done)
	@touch $(STAMP)

constraints: setup ## take the newest versions that the ranges allow into constraints.txt
	@{ echo '# The versions that developers and tests have; `make constraints` writes them anew.' && \
	  $(UV) export --quiet --upgrade --all-packages --all-extras --all-groups --no-emit-workspace \
	    --no-hashes --no-header --no-annotate; } >$(VENV)/constraints.txt
	@rm -f uv.lock # it names a registry
	@mv $(VENV)/constraints.txt constraints.txt

demo: setup ## watch a talk and find its moments again, over a real server
	@$(BIN)/vr demo

test: setup ## all tests but the slow ones
	@TMPDIR=$$($(BIN)/python scripts/temporary_folder.py) \
	  $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'not slow' $(ARGS)

# pytest answers 5 when it collects nothing, which is right only while no slow test is written.
test-slow: setup ## the slow tests: kills, floods, every distribution alone
	@$(BIN)/python -m pytest -n $(SLOW_JOBS) --dist worksteal -m slow $(ARGS) || { code=$$?; \
	  if [ $$code -ne 5 ]; then exit $$code; fi; \
	  if grep -rqs --include='test_*.py' 'mark\.slow' */tests plugins examples tests; then \
	    echo 'Slow tests are written, but none was collected.' >&2; exit 5; \
	  fi; }

lint: setup ## style, types, import contracts, sizes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(SOURCES) $(PROGRAMS)
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -m "not slow" tests/architecture --ignore=tests/architecture/test_static_checks.py

reference: setup ## write the pages that are made from the code
	@for script in scripts/*_reference.py; do $(BIN)/python $$script || exit; done

docs: setup ## build the documentation in site/; a warning is an error
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python $(DOCS)
	@$(UV) pip install --quiet --python $(DOCS) -c constraints.txt --group docs
	@$(DOCS)/bin/zensical build --clean --strict >$(DOCS)/log 2>&1 || { cat $(DOCS)/log; exit 1; }
	@cat $(DOCS)/log

bench: setup ## measure against floors and peers
	@$(BIN)/python -m benchmarks $(ARGS)

clean: ## remove .venv, caches and build output
	rm -rf $(VENV) dist build site .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
