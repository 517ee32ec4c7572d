# The two commands: `make demo` and `make test`. Everything else is for those who change the code.

PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test lint env generated lock clean

demo: .venv/core
	$(BIN)/python -m metajudge run

test: .venv/test
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST)

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/python -m snakemake --lint

env: .venv/core

# An environment notes where it was made: a moved checkout makes it anew.
HERE := $(shell cat .venv/here 2>/dev/null)
ifneq ($(HERE),$(CURDIR))
.PHONY: .venv/here
endif

.venv/here:
	$(PYTHON) -m venv --clear .venv
	echo $(CURDIR) > $@

.venv/core: envs/core.txt pyproject.toml .venv/here
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/core.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/test: envs/test.txt .venv/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/test.txt
	touch $@

# JSON schemas and conda files; a test holds them equal to their sources.
generated: .venv/core
	$(BIN)/python scripts/generate.py

# Versions and hashes, no addresses, of the environments from envs/*.in; keeps what still fits.
lock: .venv/test
	for name in core test; do \
		$(BIN)/pip-compile --quiet envs/$$name.in && sed -i '/^--/d; /^$$/d' envs/$$name.txt || exit 1; \
	done

clean:
	rm -rf results/demo .snakemake
