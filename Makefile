# make demo and make test are all a newcomer needs; each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Tests start thousands of Pythons, which start in half the time from compiled modules, whatever the shell's habits are.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test coverage check bench lock vsix wheel docs code-server node-projects screenshots clean

# Networks fail for a moment: what fetches is tried a second time, and continues with what came the first time.
twice = $(1) || { echo "That failed; once more in 10 s."; sleep 10; $(1); }
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 10

setup: $(STAMP)

$(STAMP): pyproject.toml requirements/dev.txt
	@echo "Setting Stet up in $(VENV), once (3 steps; pip works silently):"
	@echo "1. a virtual environment, some seconds"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "2. what Stet and its tests need: $$(grep -c == requirements/dev.txt) packages, about 400 MB (1.5 GB on disk), some minutes"
	@$(call twice,$(PIP) --require-hashes -r requirements/dev.txt)
	@echo "3. Stet itself, some seconds"
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@
	@echo "Done: $(BIN)/stet --version"

demo: $(STAMP)
	@$(call twice,$(BIN)/stet model pull)
	@$(BIN)/stet demo

# Not loadgroup or loadscope: there pytest waits forever when a worker has died (pytest-xdist 3.8).
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# The least share of the product's lines and branches that the tests have to reach, in percent.
FLOOR := 85

# All tests with their coverage; with PYTEST_ARGS, only what these ask for.
test: $(STAMP)
	@$(call twice,$(BIN)/stet model pull tiny)
ifdef PYTEST_ARGS
	$(PYTEST) $(PYTEST_ARGS)
else
	@rm -rf .cache/coverage
	$(PYTEST) -p support.measure
	@$(MAKE) --no-print-directory coverage
endif

# What the last measured run reached, and whether that is FLOOR at least.
coverage: $(STAMP)
	@$(BIN)/python tests/measured.py $(FLOOR)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/prose.py
	$(BIN)/python tests/identifiers.py

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py $(ONLY)

# The documentation as a site in .cache/site; a link that leads nowhere fails.
docs: $(STAMP)
	$(BIN)/mkdocs build --config-file site/mkdocs.yml

# Exact versions with hashes and no addresses, for the default index of the user's pip.
lock:
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --extra dev --no-emit-package stet-ls pyproject.toml -o requirements/dev.txt

# The extension for VS Code, built into editors/vscode/stet.vsix. Needs node 20 and npm.
vsix: editors/vscode/stet.vsix

editors/vscode/stet.vsix: $(wildcard editors/vscode/src/*.ts editors/vscode/src/*/*.ts editors/vscode/*.json editors/vscode/*.mjs editors/vscode/*.md)
	@echo "Building the extension for VS Code, once: its tools take 160 MB on disk, a minute"
	@cd editors/vscode && $(call twice,npm install --ignore-scripts --no-package-lock --no-audit --no-fund) && npm run package

# The wheel with the plugins for editors, in dist/. Without `vsix` first it has no extension for VS Code.
wheel: $(STAMP) vsix
	@$(BIN)/python -m build --quiet --wheel --no-isolation
	@echo "Done: $$(ls -t dist/*.whl | head -1)"

# VS Code's workbench as its tests drive it, in a browser. Needs node 20, npm and Chromium.
code-server: .cache/code-server/.installed

.cache/code-server/.installed: tests/e2e/vscode/install.sh
	@echo "Installing VS Code's workbench for its tests, once: 390 MB on disk, a minute or two"
	@$(call twice,tests/e2e/vscode/install.sh .cache/code-server)
	@touch $@

# Vitest and Jest, each in a folder of its own, for the tests of their runner. Needs node 20 and npm.
node-projects: .cache/node-projects/.installed

.cache/node-projects/.installed: tests/engine/runners/node_projects.sh
	@echo "Installing Vitest and Jest for the tests of their runner, once: 95 MB on disk, half a minute"
	@$(call twice,tests/engine/runners/node_projects.sh .cache/node-projects)
	@touch $@

# The pictures of the README and the docs, taken by the tests of VS Code and Neovim as they walk through it. Look at each.
screenshots: $(STAMP) vsix code-server
	STET_TEST_PICTURES=$(CURDIR)/docs/images $(BIN)/python -m pytest -n 0 tests/e2e/test_vscode.py tests/e2e/test_vscode_places.py tests/e2e/neovim

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info
