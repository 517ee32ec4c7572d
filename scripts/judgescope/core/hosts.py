"""Which machine this is, and whether a process runs on it."""

import os
import socket
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
"""The id of the running boot, where the system has one."""


def host_id() -> str:
    """Return the namespace of this process's number: the host, and the container on
    it.
    """
    try:
        container = os.readlink("/proc/self/ns/pid")
    except OSError:
        container = ""
    return f"{socket.gethostname()} {container}".strip()


def machine_id() -> str:
    """Return `host_id` and, where the system tells it, the boot of this machine."""
    try:
        return f"{host_id()} {BOOT_ID.read_text(encoding='ascii').strip()}"
    except OSError:
        return host_id()


def is_running(process: int) -> bool:
    """Return whether a process with this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
