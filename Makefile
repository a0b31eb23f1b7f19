# Every target is a short script or one meson call; `make help` lists them.
.DEFAULT_GOAL := build
.PHONY: build run check test setup bench asan tsan lint fuzz wheel install uninstall clean help
MAKEFLAGS += --no-print-directory
SECONDS = 120

build: ## compile into build/ (the default)
	@scripts/build

run: ## install what is missing, compile, and play two episodes: scripts/demo
	@scripts/setup build run
	@scripts/build
	@scripts/demo

check: ## what a change needs, in a few minutes: scripts/test --check
	@scripts/setup
	@scripts/test --check

test: ## install what is missing, compile, and run every check and test: scripts/test
	@scripts/setup
	@scripts/test

setup: ## install the Debian packages of scripts/packages that are missing
	@scripts/setup

bench: build ## measure this machine against the goals
	@build/fumehood bench
	@build/fumehood task check --run --all --seeds 8 --jobs 2
	@CLIMBS=5 PYTEST_ADDOPTS='-k climb' scripts/test python

asan: ## compile into build-asan/ with address and undefined-behaviour sanitizers
	@scripts/build asan

tsan: ## look for data races: the tests that use threads, with ThreadSanitizer
	@TSAN_ALL=1 scripts/test tsan

lint: build ## formatting, static analysis and house rules: scripts/lint
	@scripts/lint

fuzz: ## fuzz all targets for SECONDS seconds (120): scripts/fuzz
	@scripts/fuzz --seconds $(SECONDS)

wheel: ## make a Python wheel in dist/ that carries everything: scripts/wheel
	@scripts/setup build
	@scripts/wheel

install: ## install into PREFIX (/usr/local), beneath DESTDIR if that is set: scripts/install
	@scripts/install

uninstall: ## remove what make install put there
	@scripts/install --remove

clean: ## remove what the build made
	@rm -rf build build-asan build-tsan build-fuzz build-wheel dist

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16
