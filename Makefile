# Every target works alone on a clean clone: it first brings the environment up to date.
# Only Python 3.11+ and the network for the package registries are needed (Java and Maven: see `servers`).

# Which Python .venv is made with; by default what scripts/python.sh says.
PYTHON ?=
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
LOCK   := requirements.lock
WEB    := gateway/static/graphiql/index.html
DATA   ?= data
HOST   ?= 127.0.0.1
PORT   ?= 8000
# Runs a command with the real servers up and their URLs in its environment.
SERVERS := $(BIN)/python -m tests.servers run --
# Tests of many parts at once, each of them long.
WHOLE  := tests/bench tests/cypher/test_differential.py
CODE   := $(wildcard ugs gateway backends schema conformance tests bench examples scripts)

.DEFAULT_GOAL := help
.PHONY: help install web run test lint types portable contracts unit whole conformance doors behaviour proofs tck mcp packaging bench fuzz faults servers lock clean

help:  ## show this list
	@echo "make <target>:"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "  %-12s %s\n", $$1, $$2}'

install: $(STAMP)  ## create .venv with the locked dependencies and this project

$(STAMP): pyproject.toml $(LOCK)
	@PYTHON="$(PYTHON)" scripts/install.sh "$(VENV)" "$(LOCK)"
	@touch $@

web: $(WEB)  ## build GraphiQL (needs Node.js; without it the gateway serves a plain page)

$(WEB): web/package.json web/package-lock.json web/build.mjs web/index.html $(wildcard web/src/*)
	@scripts/web.sh

run: $(STAMP) $(WEB)  ## serve the embedded store, data in ./data
	@echo "UGS Gateway: http://$(HOST):$(PORT)/ (data in ./$(DATA), Ctrl+C stops)"
	@mkdir -p "$(DATA)"
	@exec $(BIN)/ugs serve --store "file:$(DATA)" --host "$(HOST)" --port "$(PORT)"

test: $(STAMP) $(WEB)  ## everything: servers, lint, types, contracts, tests, conformance, doors, packaging
	@$(SERVERS) scripts/test.sh lint types+portable contracts behaviour+proofs

lint: $(STAMP)  ## ruff: rules and formatting
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)

types: $(STAMP)  ## mypy, strict
	@$(BIN)/mypy

# Knows which functions Windows lacks; a cache of its own keeps both quick.
portable: $(STAMP)  ## mypy as if on Windows
	@$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32

contracts: $(STAMP)  ## import-linter: who may import whom
	@$(BIN)/lint-imports

unit: $(STAMP)  ## tests/ without the suites that have a target of their own
	@$(BIN)/python -m pytest tests $(addprefix --ignore=,tests/packaging $(WHOLE)) --durations=25

whole: $(STAMP)  ## benches, and random queries beside Neo4j
	@$(SERVERS) $(BIN)/python -m pytest $(WHOLE) --durations=10

conformance: $(STAMP)  ## the kit on all four stores, report in build/conformance
	@$(SERVERS) $(BIN)/python -m conformance --all --report build/conformance

doors: $(STAMP)  ## the kit through GraphQL over HTTP, on all four stores
	@$(SERVERS) $(BIN)/python -m tests.doors --all

# What make test runs side by side: two lanes of about the same length.
behaviour: unit packaging  ## unit, then packaging
proofs: conformance doors whole  ## conformance, then doors, then whole

tck: $(STAMP)  ## the openCypher TCK on every store, report in build/tck
	@$(SERVERS) $(BIN)/python -m tests.cypher

mcp: $(STAMP)  ## the MCP conformance suite and inspector (from npm) against a real gateway
	@$(BIN)/python -m tests.mcp

packaging: $(STAMP)  ## wheel in a clean environment, compose file, Dockerfile
	@$(BIN)/python -m pytest tests/packaging

bench: $(STAMP)  ## comparisons side by side: stores, GraphQL servers, features (FULL=1: also a million nodes)
	@UGS_TEST_POSTGRESQL_MEMORY=1GB $(if $(FULL),UGS_TEST_NEO4J_MEMORY=2g+2g) $(SERVERS) scripts/bench.sh "$(BIN)/python" $(if $(FULL),--full,--quick)

fuzz: $(STAMP)  ## the long run of random requests and random queries
	@UGS_TEST_FUZZ=1000 $(BIN)/python -m pytest tests/gateway/test_fuzz.py -q
	@UGS_TEST_CYPHER=100000 $(SERVERS) $(BIN)/python -m pytest tests/cypher/test_differential.py -q

faults: $(STAMP)  ## the long fault suite
	@$(SERVERS) $(BIN)/python -m pytest tests/faults --faults=full -q

servers: $(STAMP)  ## fetch what the real PostgreSQL and Neo4j need, and check that both start
	@$(BIN)/python -m tests.servers check

lock: $(STAMP)  ## resolve the dependencies anew into requirements.lock
	@scripts/lock.sh "$(BIN)/uv" "$(LOCK)"

clean:  ## remove the environment, caches and build output (never ./data)
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m tests.servers stop || true; fi
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
