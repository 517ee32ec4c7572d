"""Run a program of a checkout, `python forked.py CHECKOUT -m judgescope ...`, as an
enclosed one.

It and its jobs are forked from a process that is started here, in the network of this
one.
"""

import subprocess
import sys
from pathlib import Path

from enclosed import GUARD
from running import forking

if __name__ == "__main__":
    checkout, *words = sys.argv[1:]
    done = subprocess.run([forking(Path(checkout), GUARD), *words], check=False)
    sys.exit(done.returncode)
