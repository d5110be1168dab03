# SPDX-License-Identifier: Apache-2.0
"""Language models, at the level of trees only.

`chat` talks to a model, `ask_language_model` is a tree node that does, `mcp_server` lets a model
look and propose, `composing` makes a tree of an instruction. Nothing here moves a robot: what a
model proposes is run by a person, see `proposals`.
"""
