# SPDX-License-Identifier: Apache-2.0
"""``python -m behavior_recording FILE.mcap ...`` completes files whose writer was killed."""

from __future__ import annotations

import sys
from pathlib import Path

from behavior_recording.errors import RecordingError
from behavior_recording.torn_file import complete


def main() -> int:
    """Complete the files named on the command line; returns the exit code."""
    code = 0
    for name in sys.argv[1:]:
        try:
            print(f"{name}: complete, {complete(Path(name))} messages")
        except RecordingError as error:
            print(error, file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
