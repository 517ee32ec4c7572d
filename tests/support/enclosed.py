"""Programs that can reach nobody but this machine: by the kernel where it lets us, and
by Python.

The kernel's part is a network namespace whose only interface is loopback: no process of
whatever language leaves it. Python's part notes each try, also one whose failure is
passed over in silence. Run as a program, it opens the loopback of such a namespace and
becomes what it is given.
"""

import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from running import HOME
from waiting import patience

GUARD = Path(__file__).with_name("guard")
FORKED = str(Path(__file__).with_name("forked.py"))
ELSEWHERE = ("192.0.2.1", 80)
"""An address that is kept free for examples: nobody answers, and nobody is bothered."""
UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH}
UP = 0x1
SET_FLAGS = 0x8914

OUTSIDE = f"""
import os, sys
sys.exit(os.readlink("/proc/self/ns/net") == {os.readlink("/proc/self/ns/net")!r})
"""
TRY = f"""
import socket, sys
with socket.socket() as far:
    far.settimeout(5)
    sys.exit(far.connect_ex({ELSEWHERE!r}))
"""


def enclosed(*words: str) -> list[str]:
    """Return the words that start Python in a network of its own; as it is where nobody
    may.

    After the path FORKED and a checkout's come the words of one of its programs.
    """
    outer = ["unshare", "--map-root-user", "--net"]
    try:
        done = subprocess.run(
            [*outer, "true"], capture_output=True, check=False, timeout=patience(20)
        )
    except (OSError, subprocess.TimeoutExpired):
        return [sys.executable, *words]
    inner = [] if done.returncode else [*outer, sys.executable, __file__]
    return [*inner, sys.executable, *words]


def open_loopback() -> None:
    """Let a new network speak to itself: its loopback starts switched off."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh22x", b"lo", UP))


def watched(log: Path, home: Path = HOME) -> dict[str, str]:
    """Return the variables with which every Python process notes whom it would speak
    to.
    """
    paths = os.pathsep.join([str(GUARD), str(home / "scripts")])
    return {"PYTHONPATH": paths, "ENCLOSED": str(log)}


def kernel_refuses() -> bool:
    """Return whether a process that Python does not watch cannot reach another address
    either.
    """
    tried = [sys.executable, "-I", "-S", "-c", TRY]  # without sitecustomize
    return (
        subprocess.run(tried, check=False, timeout=patience(20)).returncode
        in UNREACHABLE
    )


def python_refuses(log: Path) -> bool:
    """Return whether a process of ours is stopped by Python, and the try is noted."""
    done = subprocess.run(
        [sys.executable, "-c", TRY],
        env={**os.environ, **watched(log)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=patience(20),
    )
    stopped = "speaks to nobody else" in done.stderr
    return stopped and log.is_file() and ELSEWHERE[0] in log.read_text("utf-8")


if __name__ == "__main__":
    open_loopback()
    os.execv(sys.argv[1], sys.argv[1:])
