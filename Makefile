# Every target works alone on a clean clone: it first brings the environment up to date.
# Only Python 3.11+ and the network for the package registries are needed (Java and Maven: see `servers`).

# Tests start many processes: without cached bytecode each would compile all its modules first, two seconds of CPU.
export PYTHONDONTWRITEBYTECODE :=

# Which Python .venv is made with; by default what scripts/python.sh says.
PYTHON ?=
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
LOCK   := requirements.lock
WEB    := gateway/ugs_gateway/static/studio/index.html
SITE   := gateway/ugs_gateway/static/docs
DATA   ?= data
HOST   ?= 127.0.0.1
PORT   ?= 8000
# Runs a command with the real servers up and their URLs in its environment.
SERVERS := $(BIN)/python -m tests.servers run --
# Puts temporary files, and with them the servers' data, in memory where there is room.
MEMORY := scripts/in_memory.sh
# Tests of many parts at once, each of them long.
WHOLE  := tests/bench tests/ugs/cypher/test_differential.py
# The folders of `unit` that make test runs as pieces of their own, beside whatever else there is in tests/.
PIECES := gateway backends ugs security faults schema
ASIDE  := $(addprefix --ignore=,tests/packaging $(WHOLE))
# What `make check` runs: no servers, no processes, no browser; the kernel's tests beside the rest.
QUICK  := tests/schema tests/house tests/docs/test_pages.py tests/backends/memory
CODE   := $(wildcard ugs gateway backends schema conformance clients tests bench examples scripts)

# What make test runs side by side, the longest first.
EVERYTHING := conformance graphql_kit $(addprefix unit_,$(PIECES)) whole unit_rest packaging
EMPTY  :=
SPACE  := $(EMPTY) $(EMPTY)

.DEFAULT_GOAL := help
.PHONY: help install web web_check run test check quick quick_kernel quick_rest lint types portable contracts unit unit_rest $(addprefix unit_,$(PIECES)) whole conformance graphql_kit tck mcp packaging bench fuzz mutants faults servers lock docs lowest pythons release clean

help:  ## show this list
	@echo "make <target>:"
	@sed -n 's/^\([a-z_]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "  %-12s %s\n", $$1, $$2}'

install: $(STAMP)  ## create .venv with the locked dependencies and this project

$(STAMP): pyproject.toml $(LOCK)
	@PYTHON="$(PYTHON)" scripts/install.sh "$(VENV)" "$(LOCK)"
	@touch $@

web: $(WEB)  ## build GraphiQL and Studio (needs Node.js; without it the gateway serves plain pages)

$(WEB): $(wildcard web/* web/src/* web/studio/* web/studio/src/* web/studio/src/*/* clients/typescript/* clients/typescript/src/* clients/typescript/src/*/*)
	@scripts/web.sh

run: $(STAMP) $(WEB)  ## serve the embedded store, data in ./data
	@echo "UGS Gateway: http://$(HOST):$(PORT)/ (data in ./$(DATA), Ctrl+C stops)"
	@mkdir -p "$(DATA)"
	@exec $(BIN)/ugs serve --store "file:$(DATA)" --host "$(HOST)" --port "$(PORT)"

test: $(STAMP) $(WEB)  ## everything: servers, lint, types, contracts, Studio, tests, conformance, graphql_kit, packaging
	@$(MEMORY) $(SERVERS) scripts/test.sh lint types+portable+contracts+web_check $(subst $(SPACE),+,$(EVERYTHING))

check: $(STAMP)  ## the inner loop: lint, types, contracts, Studio, and unit tests that need no server
	@UGS_TEST_WITHOUT_SERVERS=1 $(MEMORY) scripts/test.sh lint quick_kernel+quick_rest+types+contracts+web_check

quick: quick_kernel quick_rest  ## unit tests of kernel, schema and stores, without servers

quick_kernel: $(STAMP)
	@UGS_TEST_WITHOUT_SERVERS=1 $(BIN)/python -m pytest tests/ugs -q -m "not slow"

quick_rest: $(STAMP)
	@UGS_TEST_WITHOUT_SERVERS=1 $(BIN)/python -m pytest $(QUICK) -q -m "not slow"

web_check: $(WEB)  ## types, lint and unit tests of Studio, where Node.js is there
	@scripts/web_check.sh

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
	@$(BIN)/python -m pytest tests $(ASIDE) --durations=25

$(addprefix unit_,$(PIECES)): unit_%: $(STAMP)
	@$(BIN)/python -m pytest tests/$* $(ASIDE) -q --durations=10

unit_rest: $(STAMP)
	@$(BIN)/python -m pytest tests $(ASIDE) $(addprefix --ignore=tests/,$(PIECES)) -q --durations=10

whole: $(STAMP)  ## benches, and random queries beside Neo4j
	@$(SERVERS) $(BIN)/python -m pytest $(WHOLE) --durations=10

conformance: $(STAMP)  ## the kit on all four stores, report in build/conformance
	@$(SERVERS) $(BIN)/python -m ugs_conformance --all --report build/conformance

graphql_kit: $(STAMP)  ## the kit through GraphQL over HTTP, on all four stores
	@$(SERVERS) $(BIN)/python -m tests.conformance_over_graphql --all

tck: $(STAMP)  ## the openCypher TCK on every store, report in build/tck
	@$(SERVERS) $(BIN)/python -m tests.ugs.cypher

mcp: $(STAMP)  ## the MCP conformance suite and inspector (from npm) against a real gateway
	@$(BIN)/python -m tests.gateway.mcp

packaging: $(STAMP)  ## wheel in a clean environment, compose file, Dockerfile
	@$(BIN)/python -m pytest tests/packaging

bench: $(STAMP)  ## comparisons side by side: stores, GraphQL servers, features (FULL=1: also a million nodes)
	@UGS_TEST_NEO4J_JIT=full UGS_TEST_POSTGRESQL_MEMORY=1GB $(if $(FULL),UGS_TEST_NEO4J_MEMORY=2g+2g) $(SERVERS) scripts/bench.sh "$(BIN)/python" $(if $(FULL),--full,--quick)

fuzz: $(STAMP)  ## the long run of random requests and random queries
	@UGS_TEST_RANDOM=1 $(BIN)/python -m pytest tests $(addprefix --ignore=,tests/packaging tests/faults tests/backends $(WHOLE)) -q
	@UGS_TEST_FUZZ=1000 $(BIN)/python -m pytest tests/gateway/test_fuzz.py tests/gateway/test_argument_fuzz.py tests/gateway/test_interface_fuzz.py -q
	@UGS_TEST_CYPHER=100000 $(SERVERS) $(BIN)/python -m pytest tests/ugs/cypher/test_differential.py -q
	@for store in memory: sqlite: '$$UGS_TEST_POSTGRESQL'; do $(SERVERS) sh -c "$(BIN)/python -m pytest \
	--pyargs ugs_conformance.test_row_versions --backend \"$$store\" --histories 3400 -q" || exit 1; done

mutants: $(STAMP)  ## one-line faults in the rules: which tests notice (report in build/mutants; COUNT=150)
	@$(BIN)/python -m tests.mutants $(if $(COUNT),--count $(COUNT))

faults: $(STAMP)  ## the long fault suite
	@$(SERVERS) $(BIN)/python -m pytest tests/faults --faults=full -q
	@UGS_TEST_REPLICA_CHECKS=10000 $(BIN)/python -m pytest tests/backends/sql/test_replicas.py -q

servers: $(STAMP)  ## fetch what the real PostgreSQL and Neo4j need, and check that both start
	@$(BIN)/python -m tests.servers check

lock: $(STAMP)  ## resolve the dependencies into requirements.lock (UPGRADE=1: the newest)
	@scripts/lock.sh "$(BIN)/uv" "$(LOCK)"

lowest: $(STAMP)  ## the quick tests with the oldest dependencies that pyproject.toml allows
	@scripts/lowest.sh "$(VENV)" build/lowest

docs: $(STAMP)  ## build the documentation site, which the gateway then serves at /docs
	@scripts/docs.sh "$(VENV)" $(SITE)

pythons: $(STAMP)  ## the quick tests with other Pythons (PYTHONS="3.12 3.13 3.14")
	@scripts/pythons.sh "$(VENV)" build/pythons $(or $(PYTHONS),3.12 3.13 3.14)

release: $(STAMP) $(WEB) docs  ## build and check what a release consists of, in build/release (publishes nothing)
	@scripts/release.sh "$(VENV)"

clean:  ## remove the environment, caches and build output (never ./data)
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m tests.servers stop || true; fi
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
