# SPDX-License-Identifier: Apache-2.0
# The goals that people use. On Debian each goal first installs what it lacks, by package name, and says so.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
DESTDIR ?=
AZ ?= 0
N ?= 200
RUNS ?= $(shell expr $(N) / 4)
SEED ?= 1
CUTS ?= 500
KILLS ?= 500
SECONDS ?= 60
JOBS ?= $(shell nproc)
PONK := build/release/ponk

.PHONY: help guide run build dev test test-full bench storm storm-remote storm-tracking fuzz install uninstall packages clean format check-format tidy \
        check-headers asan tsan e2e

help:  ## show this list
	@echo "ponk runs machine-learning scripts and keeps their results. Goals:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

run:  ## build ponk and train the MNIST sample on this machine
	@tools/install_needs.sh build run
	@tools/build.sh release ponk
	@tools/run_sample.sh $(PONK)

build:  ## build the release binary, build/release/ponk
	@tools/install_needs.sh build
	@tools/build.sh release ponk

dev:  ## build everything with tests, warnings are errors (build/dev)
	@tools/install_needs.sh build test
	@tools/build.sh dev

test:  ## check everything that CI checks: format, layers, unit, sanitizers, end to end, every engine's contract, seeds of fuzzers
	@tools/install_needs.sh build test fuzz run
	@tools/test_all.sh

test-full:  ## also run tests that take hours: matrices, long storms, fuzzing, package installers
	@tools/install_needs.sh build test fuzz run
	@FULL=1 tools/test_all.sh

asan:  ## run unit tests under address and undefined-behaviour sanitizers
	@tools/install_needs.sh build test
	@tools/build.sh asan unit_tests
	@ctest --preset asan -j $(JOBS)

tsan:  ## run unit tests under the thread sanitizer
	@tools/install_needs.sh build test
	@tools/build.sh tsan thread_tests
	@tools/without_aslr.sh ctest --preset tsan -j $(JOBS)

e2e:  ## run end-to-end tests against build/release/ponk
	@tools/install_needs.sh build test run
	@tools/build.sh release ponk ponk_next
	@tools/pytest.sh $(PONK) tests/e2e

storm:  ## kill every process at random moments: N=2000 kills over RUNS=500 runs, SEED=7
	@tools/install_needs.sh build test run
	@tools/build.sh release ponk
	@/usr/bin/python3 tests/storms/storm.py --ponk $(PONK) --kills $(N) --runs $(RUNS) --seed $(SEED)

storm-remote:  ## cut the connection to another machine (its own sshd, engine and network): CUTS=500 SEED=7
	@tools/install_needs.sh build test run
	@tools/build.sh release ponk
	@/usr/bin/python3 tests/integration/host/storm_remote.py --ponk $(PONK) --cuts $(CUTS) --seed $(SEED)

storm-tracking:  ## kill the daemon while 16 clients log: KILLS=500 SEED=7
	@tools/install_needs.sh build test run
	@tools/build.sh release ponk
	@/usr/bin/python3 tests/storms/storm_tracking.py --ponk $(PONK) --kills $(KILLS) --seed $(SEED)

fuzz:  ## run each fuzz target for SECONDS=600
	@tools/install_needs.sh build fuzz
	@tools/run_fuzz.sh $(SECONDS)

bench:  ## measure ratios against python3, git and mlflow
	@tools/install_needs.sh build bench run
	@tools/build.sh release
	@/usr/bin/python3 bench/run.py --ponk $(PONK)

guide:  ## build the user guide into build/guide/site and check its links and commands
	@tools/install_needs.sh build test
	@tools/build.sh release ponk
	@tools/guide.sh $(PONK)

install:  ## install bin/ponk, man pages and completions below PREFIX=/usr/local (AZ=1: the name az too)
	@tools/install_needs.sh build
	@tools/build.sh release ponk
	@tools/install.sh install $(PONK) "$(DESTDIR)" "$(PREFIX)" $(AZ)

uninstall:  ## remove what install put below PREFIX
	@tools/install.sh remove $(PONK) "$(DESTDIR)" "$(PREFIX)" $(AZ)

packages:  ## make a wheel, a package for Debian and a tarball in build/packages
	@tools/install_needs.sh build
	@tools/build.sh release ponk
	@/usr/bin/python3 tools/make_packages.py $(PONK) build/packages

format:  ## format all sources with clang-format
	@tools/install_needs.sh format
	@tools/format.sh write

check-format:  ## fail if clang-format would change something
	@tools/install_needs.sh format
	@tools/format.sh check

tidy:  ## run clang-tidy with the short list of .clang-tidy
	@tools/install_needs.sh build test tidy
	@tools/build.sh dev
	@tools/tidy.sh $(JOBS)

check-headers:  ## check that every header compiles alone
	@tools/install_needs.sh build test
	@tools/build.sh dev check_headers

clean:  ## remove build/ (packages of tests stay in .cache/)
	rm -rf build
