# SPDX-License-Identifier: Apache-2.0
"""Behaviours and projects of other programs become tree files, and behaviours go back.

`import_ihmc` and `export_ihmc` take IHMC's behaviour JSON, `import_groot` a project of Groot2. What
has no counterpart is told, never dropped.
"""

from behavior_tree.importing.groot_project import import_groot
from behavior_tree.importing.ihmc_export import export_ihmc
from behavior_tree.importing.ihmc_import import import_ihmc
from behavior_tree.importing.imported import Imported

__all__ = ["Imported", "export_ihmc", "import_groot", "import_ihmc"]
