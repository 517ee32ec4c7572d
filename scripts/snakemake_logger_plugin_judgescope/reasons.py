"""Why a run stopped, and what to do: errors of Snakemake, and the ends of jobs' logs, in words."""

import re
import shutil
from pathlib import Path

MAX_LINES = 40
"""The end of a log that is shown."""
LITTLE = 1 << 17
"""Bytes: with fewer left on the disk, a job may have found no room for its log."""
AGAIN = "what is there is kept, and no reply is asked for twice"
_DO = "  do:      "
KILLED = (
    "it was killed (signal 9) and could not say why: most often because memory ran out.\n"
    f"{_DO}give it more memory, or run fewer jobs at once (--cores 1), and run again:\n"
    f"           {AGAIN}"
)
FULL = f"the disk is full: there was no room for its log.\n{_DO}make room and run again: {AGAIN}"
LOCKED = (
    "this study is being run already in this folder, or a run of it was killed\n"
    f"{_DO}let the other run end; if there is none, repeat the command once with --unlock,\n"
    f"           and then again: {AGAIN}"
)
RUNS = (
    "this study is being run already in this folder: {0}\n"
    f"{_DO}let it end, or end it (kill {{1}}); {AGAIN}"
)
FROM_THE_FUTURE = (
    "{1} is newer than what was just made from it: the clock was set back, or the file comes from\n"
    "a machine whose clock is ahead\n"
    "  where:   {1}\n"
    "  got:     {2}\n"
    f"{_DO}set the clock right, `touch` the file and run again: {AGAIN}"
)
NO_ROOM = f"the disk is full\n{_DO}make room and run again: {AGAIN}"
READ_ONLY = (
    f"a folder cannot be written to: {{}}\n{_DO}make it writable, or run in another folder; {AGAIN}"
)
FORBIDDEN = (
    "no permission to read or write: {}\n"
    f"{_DO}give the permission (of a folder: make it writable), or run in another folder;\n"
    f"           {AGAIN}"
)
NO_THREADS = (
    "the machine gives this run no more memory or processes: a limit is set (ulimit -v, -u)\n"
    f"{_DO}raise it, or run fewer jobs at once (--cores 1); {AGAIN}"
)

_KILLED = re.compile(r"> (\S+) 2>&1' returned non-zero exit status 137\.")
_FUTURE = re.compile(r"Output (.+) has older modification time .+? than input (.+) \((.+?)\)\. ")
_SYSTEM = re.compile(r"\[Errno (28|122|13|17|20|30)\] (.+)")
_ERRNO = {"28": NO_ROOM, "122": NO_ROOM, "13": FORBIDDEN}


def killed(message: str) -> list[str]:
    """Return the logs of the jobs that were killed, by a message of Snakemake."""
    return _KILLED.findall(message)


def reason(message: str) -> str:
    """Return an error with its cause and remedy where they are known, without Snakemake's paths."""
    _, begun, rest = message.partition("the study cannot run")
    if begun:
        return begun + rest.partition('\n  File "')[0].rstrip()
    if "Directory cannot be locked" in message:
        from judgescope.cli.live_runs import living

        runs = living()
        return RUNS.format("; ".join(map(str, runs)), runs[0].process) if runs else LOCKED
    if match := _FUTURE.search(message):
        return FROM_THE_FUTURE.format(*match.groups())
    if "can't start new thread" in message:
        return NO_THREADS
    if match := _SYSTEM.search(message):
        return _ERRNO.get(match[1], READ_ONLY).format(match[2])
    return message


def end_of(log: Path, *, killed: bool) -> str:
    """Return the end of a job's log, and what the job could not write there itself."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "it left no log"
    lines = text.rstrip().splitlines()[-MAX_LINES:]
    if killed:
        lines.append(KILLED)
    elif not lines and shutil.disk_usage(log.parent).free < LITTLE:
        lines.append(FULL)
    return "\n".join(lines)
