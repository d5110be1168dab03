# SPDX-License-Identifier: Apache-2.0
"""`python -m behavior_bringup`: the `behavior` command where its script is not installed."""

import sys

from behavior_bringup.cli import main

if __name__ == "__main__":
    sys.exit(main())
