# SPDX-License-Identifier: Apache-2.0
"""Trees that several editors change at once, also while they tick.

`SharedTree` is the authority: it checks each edit like files at load, makes it between two ticks,
keeps it on disk, and shows the result in a Yjs document. `behavior_tree.sharing.document` has the
replicas, `behavior_tree.sharing.remote` the side of an editor. Both need pycrdt.
"""

from behavior_tree.sharing.edits import Answer, Code, Edit, Running
from behavior_tree.sharing.limits import Limits
from behavior_tree.sharing.shared_tree import Prepared, SharedTree

__all__ = ["Answer", "Code", "Edit", "Limits", "Prepared", "Running", "SharedTree"]
