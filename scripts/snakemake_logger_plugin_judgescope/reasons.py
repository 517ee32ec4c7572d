"""Why a run stopped and what to do about it, from Snakemake's messages and logs."""

import re
import shutil
from pathlib import Path

MAX_LINES = 40
"""The end of a log that is shown."""
LITTLE = 1 << 17
"""Bytes: with fewer left on the disk, a job may have found no room for its log."""
AGAIN = "finished files are kept, and no reply is requested twice"
_DO = "  do:      "
KILLED = (
    "it was killed (signal 9), most often because memory ran out.\n"
    f"{_DO}give it more memory, or run fewer jobs at once (--cores 1), and run again:\n"
    f"           {AGAIN}"
)
FULL = (
    f"the disk is full: no space was left for its log.\n{_DO}free some space and "
    f"run again: {AGAIN}"
)
LOCKED = (
    "this study is already running in this folder, or a run of it was killed\n"
    f"{_DO}let the other run end; if there is none, repeat the command once with "
    "--unlock,\n"
    f"           and then again: {AGAIN}"
)
RUNS = (
    "this study is already running in this folder: {0}\n"
    f"{_DO}let it end, or end it (kill {{1}}); {AGAIN}"
)
FROM_THE_FUTURE = (
    "{1} is newer than the file just made from it: the clock was set back, or the file "
    "comes\n"
    "from a machine whose clock is ahead\n"
    "  where:   {1}\n"
    "  got:     {2}\n"
    f"{_DO}set the clock right, `touch` the file and run again: {AGAIN}"
)
NO_ROOM = f"the disk is full\n{_DO}free some space and run again: {AGAIN}"
READ_ONLY = (
    f"a folder cannot be written to: {{}}\n{_DO}make it writable, or run in "
    f"another folder; {AGAIN}"
)
FORBIDDEN = (
    "no permission to read or write: {}\n"
    f"{_DO}grant the permission (make a folder writable), or run in another folder;\n"
    f"           {AGAIN}"
)
NO_THREADS = (
    "this run reached a limit of memory or processes (ulimit -v, -u)\n"
    f"{_DO}raise it, or run fewer jobs at once (--cores 1); {AGAIN}"
)

_KILLED = re.compile(r"> (\S+) 2>&1' returned non-zero exit status 137\.")
_FUTURE = re.compile(
    r"Output (.+) has older modification time .+? than input (.+) \((.+?)\)\. "
)
_SYSTEM = re.compile(r"\[Errno (28|122|13|17|20|30)\] (.+)")
_ERRNO = {"28": NO_ROOM, "122": NO_ROOM, "13": FORBIDDEN}


def killed(message: str) -> list[str]:
    """Return the logs of the jobs that were killed, by a message of Snakemake."""
    return _KILLED.findall(message)


def reason(message: str) -> str:
    """Return an error with its cause and remedy where they are known, without
    Snakemake's paths.
    """
    _, begun, rest = message.partition("the study cannot run")
    if begun:
        return begun + rest.partition('\n  File "')[0].rstrip()
    if "Directory cannot be locked" in message:
        from judgescope.cli.live_runs import living

        runs = living()
        return (
            RUNS.format("; ".join(map(str, runs)), runs[0].process) if runs else LOCKED
        )
    if match := _FUTURE.search(message):
        return FROM_THE_FUTURE.format(*match.groups())
    if "can't start new thread" in message:
        return NO_THREADS
    if match := _SYSTEM.search(message):
        return _ERRNO.get(match[1], READ_ONLY).format(match[2])
    return message


def end_of(log: Path, *, killed: bool) -> str:
    """Return the end of a job's log, and what the job could not write there itself."""
    text = (
        log.read_text(encoding="utf-8", errors="replace")
        if log.is_file()
        else "it left no log"
    )
    lines = text.rstrip().splitlines()[-MAX_LINES:]
    if killed:
        lines.append(KILLED)
    elif not lines and shutil.disk_usage(log.parent).free < LITTLE:
        lines.append(FULL)
    return "\n".join(lines)
