# The two commands of the README: make demo, make test. Everything else is for developers.

JOBS ?= $(shell nproc)

.PHONY: help build demo python test test-frameworks test-full bench bench-core fuzz format lint asan tsan deps clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 17

deps:
	@tools/install-deps

build: deps  ## Build the program build/medley and the libraries
	@cmake --preset release -DMEDLEY_BUILD_TESTS=OFF
	@cmake --build build -j $(JOBS)

demo:  ## Mix, explain and train with every method: build/demo/index.html
	@tools/demo

python: deps  ## Build the Python wheel into dist/
	@/usr/bin/python3 -m pip wheel --no-deps --wheel-dir dist .

test: deps  ## Everything that must pass: format, build, tests, sanitizers, clang, CUDA build
	@tools/check

test-frameworks: deps  ## Python module and training on pinned versions of PyTorch, timm and others
	@tools/test-frameworks

test-full: test  ## Many more random cases, ThreadSanitizer, clang-tidy, bare Debian 12 and 13
	@tools/check-full

bench: bench-core  ## All speeds of this machine, into bench/results/; AGAINST as below
	@tools/bench theory
	@tools/bench train
	@tools/bench loop $(if $(AGAINST),--against $(AGAINST)) $(patsubst %,--python %,$(PYTHONS))

bench-core: deps  ## Mixing speed on this machine, into bench/results/; AGAINST=REVISION beside it
	@tools/bench plain $(if $(AGAINST),--against $(AGAINST))
	@tools/bench core

fuzz: deps  ## Fuzz every reader and mixing, FUZZ_SECONDS a target (default 600)
	@tools/fuzz

format: deps  ## Format the sources in place
	@tools/format

lint: deps  ## clang-tidy over the sources
	@tools/lint

asan: deps  ## The tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/sanitize asan

tsan: deps  ## The tests under ThreadSanitizer
	@tools/sanitize tsan

clean:  ## Remove everything that was built
	@rm -rf build dist
