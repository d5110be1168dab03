# SPDX-License-Identifier: Apache-2.0
# make demo   a simulated Panda stacks four blocks through the whole stack;
#             make demo DEMO=navigation has a mobile robot drive
# make test   builds and tests everything
# make setup  only makes the environment; `. ./activate` enters it
# make environment  on a ROS 2 distribution: what it lacks, beside it; PARTS="planning robots simulation fleet sharing" or some
# make page   builds the console's page alone, which setup does too
# make test-fast  the tests that need no process, no ROS graph and no patience: about a minute on two cores
# make coverage   the same, and which lines they reach
# make fuzz       draws inputs nobody has tried, an hour or more; FUZZ="--seconds 60 --seed 7"

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name) 2>/dev/null)))
SHELL := /bin/bash
DEMO ?= stack_blocks
COLCON := colcon --log-base log

# Every program that a test starts would else compile all that it imports.
ifneq ($(PYTHONDONTWRITEBYTECODE),)
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.workspace/pycache
endif

.PHONY: demo test test-fast coverage fuzz setup page environment clean

demo: setup
	@. ./activate && behavior demo $(DEMO)

test: setup
	@. ./activate && python -m behavior_workspace.test_run

test-fast: setup
	@. ./activate && python -m behavior_workspace.fast_tests

coverage: setup
	@. ./activate && python -m behavior_workspace.fast_tests --coverage

fuzz: setup
	@. ./activate && python -m behavior_workspace.fuzz $(FUZZ)

setup:
	@if [ -z "$(PYTHON)" ]; then echo "setup: Python is missing: install with 'apt-get install git make gcc g++ cmake python3 python3-venv python3-dev'" >&2; exit 1; fi
	@PYTHONPATH=tools $(PYTHON) -m behavior_workspace

page:
	@PYTHONPATH=tools $(if $(wildcard .venv/bin/python),.venv/bin/python,python3) -m behavior_workspace.page

environment:
	@PYTHONPATH="tools:src/packages:$$PYTHONPATH" python3 -m behavior_workspace.distribution_environment $(PARTS)

clean:
	rm -rf build install log out .venv .workspace
