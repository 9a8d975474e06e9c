# make serve | test | quick | check | bench | mutants : each sets up what it needs on a machine with Python 3.11 and make.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal

.PHONY: setup serve test quick check bench fit compact mutants
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	touch $@

.venv/dev-installed: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

setup: .venv/dev-installed

serve: .venv/installed
	$(BIN)/costcalc serve --bind 127.0.0.1:$(PORT)

test: setup
	$(PYTEST)

quick: setup
	$(PYTEST) tests/costcalc tests/pricing/packaged tests/api/questions \
		--ignore tests/costcalc/validation/test_protocol.py --ignore tests/pricing/packaged/test_editions.py

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks

fit: .venv/installed
	$(BIN)/python tools/fit.py

ENGINE := $(addprefix costcalc/,convergence throughput duration costing fitting validation)
mutants: setup
	$(BIN)/python -m tools.mutants --seed 1 --count 150 $(ENGINE)

# after a change of the packaged price tables, or of the evidence that nothing is fitted to
compact: .venv/installed
	$(BIN)/python tools/compact.py
