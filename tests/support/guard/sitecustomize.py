"""Loaded by every Python process of an enclosed run (see `enclosed`): nobody else is
spoken to.

What would leave loopback is noted in the file that $ENCLOSED names, and is an error.
"""

import os
import sys

HERE = ("127.", "::1", "localhost", "0.0.0.0", "::")
EVENTS = {
    **{"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1},
    **{"socket.getaddrinfo": 0, "socket.gethostbyname": 0, "socket.gethostbyaddr": 0},
}
"""What Python tells of before it is done -> where the host or its address stands in
it."""


def _watch(event: str, message: tuple[object, ...]) -> None:
    if event not in EVENTS:
        return
    host = message[EVENTS[event]]
    if EVENTS[event]:
        host = (
            host[0] if isinstance(host, tuple) else None
        )  # else a socket's file, or nobody
    host = host.decode() if isinstance(host, bytes) else host
    if not isinstance(host, str) or not host or host.startswith(HERE):
        return
    with open(os.environ["ENCLOSED"], "a", encoding="utf-8") as file:
        file.write(f"{event} {host}: {' '.join(sys.argv)[:200]}\n")
    raise PermissionError(f"an enclosed run speaks to nobody else: {host}")


sys.addaudithook(_watch)
