# The two commands: `make round` runs the main job, `make test` passes the tests. Both install what is missing first.
unexport PYTHONDONTWRITEBYTECODE
SHELL := /bin/bash
PYTHON := .venv/bin/python
TASKS ?= 2
# twelve skills that show every kind of thing; SKILLS='*' is the whole library
SKILLS ?= calc.data.sort-rows calc.format.restyle-column calc.formula.count-matching-rows calc.formula.total-below-column \
  calc.import.enter-attachment-figures calc.sheet.rename-sheet files.archive.pack-by-type files.folder.gather-by-type \
  files.text.count-log-entries thunderbird.contact.add-sender thunderbird.mail.file-in-folder thunderbird.mail.tag-message

.PHONY: round test test-all lint bench docs setup-round setup-apps setup-test clean
round: setup-round ## one generation round: prepare, probe, roll out (TASKS=5 draws five tasks a skill, SKILLS='*' takes all)
	.venv/bin/forge round --tasks $(TASKS) $(foreach skill,$(SKILLS),--skill '$(skill)')

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
