"""vLLM's server for tests of a study: it notes how it was started and what it saw.

Every start leaves `server-<process>.json` in $NOTES, every request a line in
`requests.txt` with the devices that the server sees. With $MEET, no request is answered
before so many servers have started.
"""

import json
import os
import sys
import time
from pathlib import Path

import vllm_stand_in
from waiting import patience

NOTES = Path(os.environ["NOTES"])
SECONDS = 60.0
"""How long a server waits for others."""


def note_start() -> None:
    """Note the command line, the devices, SLURM's variables and other servers."""
    others = []
    for path in NOTES.glob("server-*.json"):
        process = path.stem.removeprefix("server-")
        try:
            status = Path("/proc", process, "stat").read_text()
        except OSError:
            continue
        if status.rpartition(")")[2].split()[0] != "Z":
            others.append(int(process))
    slurm = {name: text for name, text in os.environ.items() if "SLURM" in name}
    facts = {
        "line": sys.argv[1:],
        "devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "slurm": slurm,
        "others": others,
    }
    part = NOTES / f"part-{os.getpid()}"
    part.write_text(json.dumps(facts), encoding="utf-8")
    part.rename(NOTES / f"server-{os.getpid()}.json")


class Pages(vllm_stand_in.Pages):
    """Answers as the stand-in does, and notes every request."""

    def do_POST(self) -> None:
        end = time.monotonic() + patience(SECONDS)
        wanted = int(os.environ.get("MEET", "0"))
        while len(list(NOTES.glob("server-*.json"))) < wanted:
            if time.monotonic() > end:
                self.send_error(500, "the other servers did not start")
                return
            time.sleep(0.05)
        with (NOTES / "requests.txt").open("a", encoding="utf-8") as file:
            print(os.environ.get("CUDA_VISIBLE_DEVICES"), file=file)
        super().do_POST()


def main() -> None:
    """Serve."""
    note_start()
    vllm_stand_in.Pages = Pages  # type: ignore[misc]
    vllm_stand_in.main("well", sys.argv[1:])
