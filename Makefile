# One command for each job. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV := .venv
# A student needs no development tools: make lab EXTRAS=labs
EXTRAS ?= labs,dev
# The versions that all tests pass with (written by docker/lock.py). make setup CONSTRAINTS= takes the newest instead.
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
READY := $(VENV)/.ready
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint types lab labs docs image image-test image-smoke clean

# One line that moves instead of pip's hundreds; errors and warnings in full.
define PROGRESS
/^Collecting / { n++; printf "\r  %3d packages found, now %-44.44s", n, $$2; fflush() } \
/^Installing collected/ { printf "\r  %3d packages found, installing them %-30s\n", n, ""; fflush() } \
/^(ERROR|error:|WARNING: The|hint:)/ { print } \
/^The conflict is caused by/, /^To fix this/ { if (!/^To fix/) print }
endef

# A test that fails beside others is run once more, alone: on a shared machine the others may have been the cause.
define AGAIN
echo "test: what failed is run once more, alone; what passes now depends on what ran beside it: say so to its author" && \
$(BIN)/pytest --last-failed --last-failed-no-failures none --exitfirst
endef

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and install the kit, the labs' frameworks and development tools

$(READY): pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python %d.%d: this kit needs 3.11 to 3.13\nhint: make setup PYTHON=python3.12" % v)'
	@echo "setup: installing into $(VENV); a few minutes the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off $(addprefix --constraint ,$(CONSTRAINTS)) -e '.[$(EXTRAS)]' 2>&1 | awk '$(PROGRESS)'
	@$(BIN)/python -m compileall -q autograder labkit  # sandboxed processes see both, and can keep nothing beside them
	@touch $(READY)

demo: $(READY) ## build lab 01, grade eight sample submissions in a sandbox, print the grades
	@$(BIN)/autograder demo

test: $(READY) lint types ## run every check and every test
	@$(BIN)/autograder release --check
	@$(BIN)/python -m benchmarks.claims --check
	@$(BIN)/pytest -n 2 --dist loadscope || { [ $$? = 1 ] && $(AGAIN); }

test-all: test ## the same, then what is thorough, two minutes of the boundary's fuzzer, and every answer of the labs
	@$(BIN)/pytest -n 2 --dist loadscope -m thorough --ignore=tests/labs
	@AUTOGRADER_FUZZ_S=120 $(BIN)/pytest -n 2 --dist loadscope -m 'not image' tests/fuzz tests/labs

lint: $(READY) ## ruff, import-linter, codespell and hadolint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/codespell
	@$(BIN)/hadolint $$(git ls-files '*Dockerfile')

types: $(READY) ## mypy --strict
	@$(BIN)/mypy

lab: $(READY) ## open JupyterLab on your copies of the labs, in work/; PORT=9000 FLAGS=--no-browser
	@$(BIN)/labkit lab $(if $(PORT),--port=$(PORT)) $(FLAGS)

labs: $(READY) ## generate labs/ from solutions/; FLAGS=--replace writes over what was changed there
	@$(BIN)/autograder release $(FLAGS)

docs: $(READY) ## generate docs/cli.md, claims.md, proof.md, topics.md, glossary.md, gpu.md, and what code says of docs/grading.md and docs/architecture.md
	@$(BIN)/python docs/make_cli.py
	@$(BIN)/python docs/make_boundary.py
	@$(BIN)/python docs/make_architecture.py
	@$(BIN)/python docs/make_proof.py
	@$(BIN)/python docs/make_topics.py
	@$(BIN)/python docs/make_glossary.py
	@$(BIN)/python -m benchmarks.claims
	@$(BIN)/python -m benchmarks.gpu page

image: ## build the students' image with torch for the CPU (another: docker/build.sh)
	@docker/build.sh student cpu

image-test: $(READY) ## build images and test containers made from them; needs a Docker engine
	@$(BIN)/pytest -m image tests/images

image-smoke: $(READY) ## build the students' and the instructor's image, and try the most important of it
	@$(BIN)/pytest -m 'image and smoke' tests/images

clean: ## remove what the other targets made, the environment too
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
