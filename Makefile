PYTHON ?= python3
# Test processes running at once: two more than two cores, since many wait for what they started.
# Each may start a JVM of its own, bounded by TEST_MEMORY.
WORKERS ?= 4
TEST_MEMORY ?= 1g

BIN := .venv/bin
# Modules are compiled once, and not by each of the many processes that tests and benchmarks start.
unexport PYTHONDONTWRITEBYTECODE
READY := .venv/.ready

.PHONY: help demo test kernels check bench soak reproduce lock clean

help: ## List what can be made
	@grep -hE '^[.a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

.venv: $(READY) ## Create the environment from requirements.lock
$(READY): pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	@# modules are compiled when they are imported: most never are
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY) ## Run Shortlist on a generated city
	$(BIN)/python -m examples.city

test: $(READY) ## Check, then run every test and example but the soak tests
	@$(MAKE) --no-print-directory -j 2 check kernels
	SHORTLIST_DRIVER_MEMORY=$(TEST_MEMORY) $(BIN)/python -m pytest -n $(WORKERS)

kernels: $(READY) ## Compile the kernels that most tests use
	$(BIN)/shortlist compile-kernels
	$(BIN)/python -m tests.compile_kernels

check: $(READY) ## Lint, formatting, types and import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## Run every benchmark
	@set -e; for file in $(filter-out benchmarks/compare.py,$(sort $(wildcard benchmarks/*.py))); do echo "== $$file"; $(BIN)/python $$file; done

soak: $(READY) ## Run the long tests
	$(BIN)/python -m shortlist.spark.class_archive
	SHORTLIST_HYPOTHESIS=soak $(BIN)/python -m pytest -m soak

reproduce: $(READY) ## Run every figure of the papers in full, and make the gallery anew
	$(BIN)/shortlist reproduce --save

lock: ## Resolve the dependencies anew into requirements.lock (needs uv on the PATH)
	uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --extra dev --output-file requirements.lock pyproject.toml

clean: ## Remove the environment, caches and build products
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests examples benchmarks -name __pycache__ -type d -exec rm -rf {} +
