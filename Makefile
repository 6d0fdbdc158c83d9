# Heddle. `make test` is all a change needs to pass; `make check` is what CI adds.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run test bench performance facts check vet fmt lint race invariants fuzz ptx tools docs validate

BIN := .cache/bin
# Packages in which goroutines meet. The race detector slows them about tenfold.
RACE ?= ./host/... ./lab ./lab/live ./lab/slurm ./serve ./sim/... ./ptx/emulate/...
FUZZTIME ?= 5s
COUNT ?= 1
BENCH ?= .
PKG ?= ./...

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

run: ## simulate two applications sharing a GPU under three systems
	go run ./cmd/heddle run examples/two-tenants.yaml

test: ## every test
	go test ./...

docs: ## write docs/reference and the generated parts of other documents (a minute), and man pages into .cache/man
	go test ./cmd/heddle -run 'TestReadmeIsGenerated|TestReadmeExample|TestMeasuredFigures' -update
	go run ./cmd/heddle docs docs/reference
	go run ./cmd/heddle docs --man .cache/man

validate: ## compare the sheets with boards and GPGPU-Sim (minutes), and write their tables and README.md
	go build -o .cache/heddle ./cmd/heddle
	.cache/heddle validate silicon > .cache/silicon.txt
	.cache/heddle validate colocation > .cache/colocation.txt
	mv .cache/silicon.txt .cache/colocation.txt lab/silicon/
	.cache/heddle calibrate --wide > .cache/calibrate.txt
	mv .cache/calibrate.txt apps/calib/
	$(MAKE) docs

bench: ## speed beside the reference's, then benchmarks into .cache/bench.txt for benchstat (PKG=, BENCH=, COUNT=6)
	go run ./cmd/heddle calibrate --performance
	@mkdir -p .cache
	@if [ -f .cache/bench.txt ]; then mv .cache/bench.txt .cache/bench.old; fi
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG) | tee .cache/bench.txt
	@if [ -f .cache/bench.old ]; then echo "compare: make tools && $(BIN)/benchstat .cache/bench.old .cache/bench.txt"; fi

performance: ## measure and write PERFORMANCE.md (on an idle computer)
	go build -o .cache/heddle ./cmd/heddle
	.cache/heddle calibrate --performance --commit "$$(git rev-parse --short=12 HEAD)" > .cache/PERFORMANCE.md
	mv .cache/PERFORMANCE.md PERFORMANCE.md

facts: ## compare what simulations do, counter by counter, with another revision (BASE=, CASES=, SHORT=)
	@.ci/facts "$(BASE)" "$(CASES)" "$(SHORT)"

check: vet fmt lint race invariants fuzz ## vet, format, lint, race detector, invariants, short fuzzing

vet: ## go vet, with and without the invariants tag
	go vet ./...
	go vet -tags invariants ./...

fmt: tools ## files gofumpt would change (fix: .cache/bin/gofumpt -w .)
	@out=$$($(BIN)/gofumpt -l .); if [ -n "$$out" ]; then echo "not formatted; run $(BIN)/gofumpt -w . :"; echo "$$out"; exit 1; fi

lint: tools ## golangci-lint (staticcheck and friends, see .golangci.yml) and the rules of internal/archtest
	$(BIN)/golangci-lint run ./...
	go test ./internal/archtest

race: ## the parallel paths under the race detector
	go test -race -short -timeout 40m $(RACE)
	go test -race -run Cores ./machine

invariants: ## the machine with its invariants checked
	go test -tags invariants -timeout 20m ./machine/... ./sim/... ./mem/...

fuzz: ## every fuzz target for FUZZTIME (at night: make fuzz FUZZTIME=10m)
	@.ci/fuzz $(FUZZTIME)

ptx: ## regenerate every kernel.ptx from kernel.cu with clang-19
	apps/ptx.sh

tools: $(BIN)/.built ## build the pinned tools of tools/go.mod into .cache/bin

$(BIN)/.built: tools/go.mod tools/go.sum
	@mkdir -p $(BIN)
	@echo "building linters and benchstat (two minutes the first time)"
	cd tools && go build -o ../$(BIN)/ tool
	@touch $@
