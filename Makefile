# The commands of development. Each is a line or two: what they run can be run by hand.

GO      ?= go
FUZZ    ?= 100000x
BENCH   ?= .
COUNT   ?= 1
SOAK    ?= 200000
GROWTH  ?= 4
BASE    ?=

.PHONY: build web test conformance interop e2e screenshots lint fuzz growth footprint soak stress chaos bench bench-jsonata update clean

# Without the debugging pages of gRPC, which make the linker keep every method,
# mcpgraph is 2 MB smaller.
build: ## builds bin/mcpgraph, and bin/mcpgraph-temporal for durable runs
	CGO_ENABLED=0 $(GO) build -tags grpcnotrace -o bin/ ./cmd/...

web: ## checks the types of the page and builds web/dist, which is committed
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run --silent check
	$(GO) run -C web/build .

test: ## runs all tests
	$(GO) test ./...

e2e: ## tests the page in Chromium; RUN=TestPage/NAME runs one check
	cd e2e && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	MCPGRAPH_E2E=1 $(GO) test ./e2e -count=1 -v $(if $(RUN),-run='$(RUN)')

screenshots: ## takes the pictures of the docs
	cd e2e && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	MCPGRAPH_E2E=1 PICTURES=$(CURDIR)/docs/images $(GO) test ./e2e -count=1 -v

conformance: ## runs the public conformance suite of MCP against bin/mcpgraph and prints how many scenarios pass
	@GO="$(GO)" .ci/needs conformance
	@$(MAKE) --silent build
	@out=$$(MCPGRAPH_TESTS=full MCPGRAPH_BINARY=$(CURDIR)/bin/mcpgraph $(GO) test ./cmd/mcpgraph ./pkg/upstream -run='^TestConformance$$' -count=1 -v); \
	status=$$?; if [ $$status -ne 0 ]; then echo "$$out"; else echo "$$out" | sed -nE 's/^ +((server|client) 20)/\1/p'; fi; exit $$status

interop: ## measures clients of other makers and prints the table of docs/clients.md; UPDATE=1 writes it there
	@GO="$(GO)" .ci/needs interop
	@out=$$(MCPGRAPH_INTEROP=1 $(GO) test ./cmd/mcpgraph -run='^TestInterop$$' -count=1 -timeout=15m -v 2>&1); \
	status=$$?; if [ $$status -ne 0 ]; then echo "$$out"; else echo "$$out" | grep -E '^\||interop_test'; fi; exit $$status

lint: ## gofmt, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools.mod staticcheck ./...

fuzz: ## runs every fuzz target FUZZ times (or for so long: 10m)
	@grep -rl --include='*_test.go' --exclude-dir=node_modules '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -d' ' -f2 | while read -r target; do \
			echo "$$dir $$target"; \
			$(GO) test "$$dir" -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZ) -fuzzminimizetime=1x || exit 1; \
		done || exit 1; \
	done

growth: ## prints what each shape of file costs at n, 2n and 4n, with files GROWTH times as long as in the tests
	MCPGRAPH_GROWTH=$(GROWTH) $(GO) test ./internal/cli -run='^TestGrowth$$' -count=1 -timeout=1h -v

footprint: ## prints what the idle programs cost: start, memory, size; with BASE=COMMIT beside those of another commit
	$(GO) run ./internal/footprint -base='$(BASE)'

soak: ## makes SOAK calls of every kind and shows that the process stays small, and 200 edits of a long file
	MCPGRAPH_SOAK=$(SOAK) $(GO) test . -run='^TestSoak$$' -count=1 -timeout=2h -v
	MCPGRAPH_SOAK=1 MCPGRAPH_TESTS=full $(GO) test ./internal/toolkit -run='^TestRandomEdits' -count=1 -timeout=2h -v

stress: ## lets 50 callers of each kind take what they can from a process that may take 512 MiB
	@GO="$(GO)" .ci/needs stress
	MCPGRAPH_STRESS=1 $(GO) test ./cmd/mcpgraph -run='^TestHungryCallersHurtNobody$$' -count=1 -timeout=15m -v

chaos: ## kills a worker of durable runs each second and shows that no call is lost, and compares two workers with one
	@GO="$(GO)" .ci/needs chaos
	MCPGRAPH_CHAOS=1 $(GO) test ./cmd/mcpgraph -run='^Test(KilledWorkersLoseNothing|TwoWorkersAreTwiceAsFast)$$' -count=1 -timeout=30m -v

bench: ## runs the benchmarks that match BENCH, COUNT times
	$(GO) test ./... -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT)

bench-jsonata: ## measures the JSONata engine against the reference on node
	$(GO) run ./pkg/jsonata/internal/bench/compare

update: ## rewrites the expected outputs under testdata and the generated parts of docs
	UPDATE=1 $(GO) test ./internal/repotest ./pkg/config ./pkg/nodes ./pkg/executor ./pkg/ui ./internal/cli

clean: ## removes what builds leave behind
	rm -rf bin
	$(GO) clean -testcache
