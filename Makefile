# make serve | cluster | test | quick | check | bench : each sets up what it needs on a machine with Python 3.11 and make.
comma := ,
# the first that is new enough; PYTHON= names another
NEW_ENOUGH := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && break; done)
ifneq ($(shell $(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null && echo yes),yes)
$(error costcalc needs Python 3.11 to 3.14$(if $(PYTHON),$(comma) which $(PYTHON) is not); install one, or name yours: \
make serve PYTHON=/usr/local/bin/python3.12)
endif
export PYTHON
PORT ?= 8000
BIN := .venv/bin
# what one process has compiled, the hundreds that tests start don't compile again
unexport PYTHONDONTWRITEBYTECODE
# an environment whose Python is gone, or another one, is made anew
ifneq ($(wildcard .venv),)
ifneq ($(shell $(BIN)/python -c 'import sys; print(sys.version)' 2>/dev/null),$(shell $(PYTHON) -c 'import sys; print(sys.version)'))
$(shell rm -rf .venv)
endif
endif
# one process more than there are cores, since tests wait for the servers that they start; at the lowest priority, which is that of
# the processes that refresh prices: otherwise these wait for the tests that wait for them
CORES := $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count(), 8))')
PYTEST := nice -n 19 $(BIN)/python -m pytest --forks

.PHONY: setup serve cluster test quick check bench fit compact lock audit sbom
build/uv/bin/uv:
	-$(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install --quiet uv

.venv/installed: pyproject.toml | build/uv/bin/uv
	tools/install .venv --editable '.[all]'
	touch $@

# the versions of the image, without hashes: tests run what is deployed, where they have its Python
build/constraints.txt: deploy/requirements.txt
	mkdir -p $(dir $@)
	sed -n 's/^\([^ ]*==[^ ]*\) .*/\1/p' $< > $@
AS_DEPLOYED := $(shell $(PYTHON) -c 'import sys; print("--constraint build/constraints.txt" * (sys.version_info[:2] == (3, 11)))')

# in one installation, as those of `.[all]` are among them
.venv/dev-installed: pyproject.toml build/constraints.txt | build/uv/bin/uv
	tools/install .venv $(AS_DEPLOYED) --editable '.[dev]'
	touch .venv/installed $@

# the launchers' own parsers, apart because they pin what they need
build/launchers/installed: tests/support/launchers.txt | build/uv/bin/uv
	tools/install build/launchers --requirement $<
	touch $@

# libraries that write training logs, apart because MLflow needs an older cachetools; PyTorch is that of the tests
build/training_libraries/installed: tests/support/training_libraries.txt .venv/dev-installed
	$(PYTHON) -m venv --without-pip build/training_libraries
	echo $(CURDIR)/.venv/lib/python*/site-packages > "$$(echo build/training_libraries/lib/python*/site-packages)/tests.pth"
	tools/install build/training_libraries --requirement $<
	touch $@

setup: .venv/dev-installed

serve: .venv/installed
	$(BIN)/costcalc serve --bind 127.0.0.1:$(PORT)

# nginx, two servers, PostgreSQL and Redis on this machine without containers; CLUSTER_PORT is the first port
CLUSTER_PORT ?= 8080
cluster: setup
	$(BIN)/python -m tools.cluster --port $(CLUSTER_PORT)

# TESTS=whole, as at night: no sample, more examples, measurements that take minutes, and libraries that train anew
test: setup build/launchers/installed $(if $(filter whole,$(TESTS)),build/training_libraries/installed)
	$(PYTEST) $$(($(CORES) + 1)) --durations 20

# without servers, and without the dearest files of these rooms
NOT_QUICK := $(addprefix tests/costcalc/,test_estimate_laws.py test_memory.py test_picks.py test_spot_rates.py \
	catalogue/test_catalogue.py costing/test_bills.py costing/test_own_terms.py duration/test_best_recipe.py \
	duration/test_training_matrix.py machine_limits/test_answers.py throughput/test_laws.py throughput/test_measurements.py \
	throughput/test_speed_laws.py) \
	$(addprefix tests/pricing/packaged/,test_catalogue.py test_editions.py test_offers.py test_owned.py) \
	$(addprefix tests/api/questions/,test_contradictions.py test_elsewhere.py test_links.py)
quick: setup
	$(PYTEST) $(CORES) -p no:schemathesis tests/costcalc tests/pricing/packaged tests/api/questions $(addprefix --ignore ,$(NOT_QUICK))

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory audit

bench: setup
	$(BIN)/python -m benchmarks

fit: setup
	$(BIN)/python -m science.fit

# after a change of the dependencies: the versions of the image and of what signs editions, each with its hashes, and what is known
# against them
COMPILED := --quiet --generate-hashes --allow-unsafe --strip-extras --no-annotate --no-emit-find-links --no-emit-index-url
lock: setup
	$(BIN)/pip-compile $(COMPILED) --extra server --output-file deploy/requirements.txt pyproject.toml
	$(BIN)/pip-compile $(COMPILED) --output-file deploy/signing.txt pyproject.toml

ADVISORIES := https://pypi.org/pypi/pip/25.0/json
audit: setup
	@if $(BIN)/python -c 'import sys, requests; requests.head(sys.argv[1], timeout=10).raise_for_status()' $(ADVISORIES) 2>/dev/null; then \
		$(BIN)/pip-audit --strict --requirement deploy/requirements.txt --require-hashes --disable-pip; \
	else echo "not audited: $(ADVISORIES), which knows what is wrong with the dependencies, cannot be reached"; fi

# what the image is made of, for scanners
SBOM := build/sbom.json
sbom: setup
	mkdir -p $(dir $(SBOM))
	$(BIN)/cyclonedx-py requirements deploy/requirements.txt --pyproject pyproject.toml --output-file $(SBOM)

# after a change of the packaged price tables, or of the evidence that nothing is fitted to
compact: .venv/installed
	$(BIN)/python tools/compact.py
	$(BIN)/python -m science.fitting.rate_moves
