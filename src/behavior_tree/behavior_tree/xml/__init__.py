# SPDX-License-Identifier: Apache-2.0
"""XML format of BehaviorTree.CPP 4: reading (`document`, `loader`), checking (`validator`),
building nodes (`builder`) and writing (`writer`).
"""
