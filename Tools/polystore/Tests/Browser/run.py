#!/usr/bin/env python3
"""Opens the pages of `polystore browse` in Chromium, and checks what they do.

usage: Tools/polystore/Tests/Browser/run.py [options]
  --only REGEX     runs the behaviours whose id matches
  --write          writes the snapshots of the accessibility tree instead of comparing them; read the difference before you commit it
  --shots FOLDER   the folder for screenshots; by default .build/browser-shots
  --atlas PATH     a store of the atlas; by default it is imported again
  --list           lists the behaviours

The tool, its program browser-stores and the atlas must be built in .build/debug. Chromium is installed with apt-get by root, and playwright with pip into a folder of .build. Where that is not
possible, the test says so and does nothing.
"""
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[3]
sys.path.insert(0, str(FOLDER))
os.chdir(ROOT)

import installation  # noqa: E402

if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    reason = installation.prepare()
    if reason:
        sys.exit(print(f"The browser was not tested: {reason}"))
    import runner  # noqa: E402  It imports playwright, which the line above has installed.

    sys.exit(runner.main(sys.argv[1:]))
