# SPDX-License-Identifier: Apache-2.0
"""Where BehaviorTree.CPP 4.8 surprises, and what this engine does instead.

``BehaviorTreeFactory()`` mends the defects below; ``BehaviorTreeFactory(compat="4.8")`` copies
them, so that a tree written against 4.8 runs the same, tick for tick. This page is the whole list:
no other module decides by version. Letters are those of the conformance notes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: it is a key of hot caches
class Quirks:
    """True means: behave like BehaviorTree.CPP 4.8."""

    skipped_stays_running: bool = False
    """A. A control or decorator that starts and is SKIPPED in the same tick keeps the status
    RUNNING, so it is halted later and its ``_onHalted`` runs. Mended: it returns to
    IDLE silently."""
    simple_action_stores_skipped: bool = False
    """A SKIPPED simple action keeps this status until its parent resets it. Mended: SKIPPED is
    never stored.
    """
    subtree_root_remap_is_literal: bool = False
    """B. A SubTree remap to ``{@key}`` makes an entry named ``@key`` in the parent. Mended: it
    addresses the root blackboard."""
    precondition_latch_survives_halt: bool = False
    """E. After being halted, or after its child was skipped, Precondition does not check its
    condition again. Mended: it does.
    """
    halt_tree_halts_all: bool = False
    """G. halt_tree() runs ``_onHalted`` of every node, twice for running ones. Mended: once,
    running only.
    """
    destroyed_tree_halts: bool = False
    """A tree that nobody refers to any more is halted, as by halt_tree(). Mended: only told to."""
    number_concat_is_empty: bool = False
    """H. ``1 .. 2`` in a script gives an empty value. Mended: the text ``12``."""
    json_import_by_position: bool = False
    """I. import_tree_from_json pairs the sorted names in the JSON with the SubTrees in their order,
    so that contents are swapped. Mended: matched by name."""
    nan_compares_true: bool = False
    """In scripts every comparison with nan but ``==`` is true, and inf differs from inf. Mended:
    IEEE 754.
    """
    if_then_else_strict: bool = False
    """IfThenElse and WhileDoElse raise when their condition is SKIPPED, and a two-child IfThenElse
    leaves its failed condition un-reset. Mended: the node is SKIPPED; the condition is reset."""
    parallel_all_skipped_succeeds: bool = False
    """Parallel with a negative success_count whose children are all SKIPPED gives SUCCESS. Mended:
    SKIPPED.
    """
    loop_queues_typed: bool = False
    """LoopX takes only queues of its own type, into which a text becomes when it is written to the
    entry, and raises while the entry is empty. Mended: any deque, list or text; `if_empty`."""
    consume_queue_forgets_failure: bool = False
    """ConsumeQueue goes on with the next item if a child that was RUNNING fails. Mended: FAILURE
    ends it, as it does in the first tick of the child.
    """
    missing_ports_at_tick: bool = False
    """Missing mandatory ports and bad enum literals raise at the first tick. Mended: reported at
    load.
    """
    unused_trees_unchecked: bool = False
    """Ports and scripts of trees that are not built are not looked at. Mended: all trees are
    checked at load.
    """
    subtree_outputs_mandatory: bool = False
    """A SubTree must connect the output ports of its model that have no default. Mended: an output
    may stay open, what is written to it stays in the SubTree."""
    exact_values: bool = False
    """Entries, conversions and casts follow 4.8 to the letter (``rules_4_8`` and ``casts_4_8`` in
    `behavior_tree.blackboard`); what shows most:

    - F. SetBlackboard of a literal into an existing untyped entry stores an empty value, and raises
      the next time
    - SetBlackboard raises when it copies a number into an entry of another number type, even an
      integer literal of a script (``int64``) into an entry of `Blackboard.set_int` (``int``)
    - ``12abc`` converts to 12, ``1.5`` to the integer 1; integers have 32 bits
    - an entry that a script makes stays untyped, an empty one takes any number from a script, and a
      number may take the place of a bool
    - a write through a remapping or by SetBlackboard replaces values of another type

    Mended: literals are stored, numbers that fit are converted, the whole text must be a number,
    integers have 64 bits, an entry gets the type of the first value and keeps it (an empty one
    that was made by an input of texts still takes any value from a script)."""
    script_grammar_4_8: bool = False
    """Scripts: ``;`` needed between and forbidden after statements; ``&&`` and ``||`` bind
    equally; arithmetic groups to the right (``10-3-2`` is 9); arithmetic, bit and ``..`` operators
    need parentheses to mix; names cannot start with ``true`` or ``false``. Mended: the grammar of
    4.9 and later, plus double-quoted texts and non-ASCII names."""
    subtree_literals_are_text: bool = False
    """A literal given to a SubTree port is a string even if it is a number. Mended: numbers are
    numbers.
    """
    entry_updated_keeps_child: bool = False
    """Halting SkipUnlessUpdated or WaitValueUpdate leaves a running child running. Mended: it is
    halted.
    """
    unset_hides_write: bool = False
    """WasEntryUpdated, SkipUnlessUpdated and WaitValueUpdate miss a write to an entry that was
    removed and made again, if it had been written as often before. Mended: they notice it."""
    names_unchecked: bool = False
    """Any text may name a tree, a node type, a port of a SubTree model or an instance, even an
    empty one, and two SubTrees may have the same path; an attribute that begins with a letter is a
    port. Mended: such names are reported, ``name=""`` counts as not given, attributes that cannot
    be ports are kept aside."""
    any_btcpp_format: bool = False
    """The value of BTCPP_format is never looked at. Mended: anything but 4 is reported."""
    explicit_category_unchecked: bool = False
    """``<Action ID="Sequence">`` is accepted. Mended: with a warning."""
    reactive_rejects_explicit: bool = False
    """D. An explicit-syntax child of ReactiveSequence is rejected. Mended: accepted."""
    callback_errors_fail: bool = False
    """An exception in a ``register_simple_*`` callback is printed and becomes FAILURE. Mended: the
    tick raises, with the path of the node."""
    unreadable_ports_ignored: bool = False
    """RunOnce takes ``then_skip`` for true if it cannot be read, RetryUntilSuccessful keeps the
    ``num_attempts`` it had, Switch takes the default, LoopX drops what ``value`` cannot take.
    Mended: the tick raises."""
    callback_results_guessed: bool = False
    """Anything but a status, its name or number, a bool or None that a ``register_simple_*``
    callback returns counts as FAILURE. Mended: the tick raises."""
    set_output_raises: bool = False
    """``set_output_int`` and its like raise TypeError after they have written, which makes a
    callback fail. Mended: they return whether the port is connected."""
    text_trees_unregistered: bool = False
    """The trees given to create_tree_from_text and _from_file are forgotten once built, and cannot
    use registered ones. Mended: registered, so create_tree can build them again."""
    outer_blackboard_hidden: bool = False
    """Groot2 is not told of a blackboard above that of the main tree. Mended: as of 4.10 under the
    name ``ROOT``."""
    hooks_all_before_tick: bool = False
    """A Groot2 hook behind a tick is kept, and acts, as the node's one hook before the tick; it
    can be neither unlocked nor removed by its own position. Mended: one hook per node and position.
    """
    switch_prefix_match: bool = False
    """Switch cases compare numeric prefixes of texts. Mended: the whole text must be a number."""


MENDED = Quirks()
"""The default."""

UPSTREAM_4_8 = Quirks(**{field.name: True for field in fields(Quirks)})
"""Everything as in BehaviorTree.CPP 4.8.2."""


def quirks_for(compat: str | None) -> Quirks:
    """Quirks for the factory argument ``compat``; raises ValueError for an unknown version."""
    if compat is None:
        return MENDED
    if compat == "4.8":
        return UPSTREAM_4_8
    raise ValueError(f'compat={compat!r} is unknown; use None (defects mended) or "4.8"')
