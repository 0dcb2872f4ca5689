# The two commands: `make round` runs the main job, `make test` passes the tests. Both install what is missing first.
unexport PYTHONDONTWRITEBYTECODE
SHELL := /bin/bash
PYTHON := .venv/bin/python
TASKS ?= 2

.PHONY: round test test-all lint bench docs setup-round setup-apps setup-test clean
round: setup-round ## one generation round: author, prepare, probe, roll out (TASKS=5 draws five tasks a skill)
	.venv/bin/forge round --tasks $(TASKS)

test: setup-test lint ## everything but the heavy tests
	$(PYTHON) -m pytest -n 2 --dist loadfile -m "not slow"

test-all: setup-test lint ## the heavy tests too
	$(PYTHON) -m pytest -n 2 --dist loadfile

lint: setup-test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check -q .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache

bench: setup-round ## print the figures that the documentation quotes
	$(PYTHON) -m bench

docs: setup-test ## write docs/reference from the code
	$(PYTHON) -m docs.generate

setup-round:
	@setup/install.sh round

setup-apps: ## every application, the live view, recordings
	@setup/install.sh apps

setup-test:
	@setup/install.sh test

clean: ## remove what a round made (the warehouse too)
	rm -rf .forge
