# SPDX-License-Identifier: Apache-2.0
"""``python -m behavior_tree``."""

import sys

from behavior_tree.cli import main

sys.exit(main())
