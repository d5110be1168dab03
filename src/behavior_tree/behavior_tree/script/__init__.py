# SPDX-License-Identifier: Apache-2.0
"""The script language of ``Script``, ``ScriptCondition`` and the ``_skipIf`` family of attributes.

Text becomes tokens (`lexer`), then an expression tree (`parser`), then nested Python closures
(`compiler`); user text is never evaluated by Python. The language::

    battery := 80; speed = battery > 20 && !paused ? 1.5 : 0.2; label := 'v' .. speed

- values are integers, reals and ``'texts'``; ``true`` and ``false`` are 1 and 0; results of
  arithmetic, comparison and logic are reals
- ``:=`` creates or assigns, ``=  +=  -=  *=  /=`` need an existing entry
- from loose to tight: assignment, ``?:``, ``||``, ``&&``, comparison (chained: ``0 < x < 9``), ``|
  ^``,
  ``&``, ``+ - ..``, ``* /``, prefix ``- ~ !``; both sides of ``&&`` and ``||`` are always evaluated
- ``;`` separates statements and may be left out; the value is that of the last statement

``grammar_4_8=True`` reads the stricter grammar of BehaviorTree.CPP 4.8 instead; see
`behavior_tree.quirks.Quirks.script_grammar_4_8`.
"""

from behavior_tree.script.compiler import Script, check_script, compile_script

__all__ = ["Script", "check_script", "compile_script"]
