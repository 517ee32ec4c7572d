"""Programs of this checkout without their imports: a process that has made them forks
for each.

A small run of the workflow starts some twenty Python processes, which import for longer
than they work. What `client()` names takes the arguments of an interpreter: the
workflow's own programs are forked from a process that has imported them all, anything
else is run by the interpreter itself. Arguments, variables, folder, standard streams,
signals and status are those of a program that was started; the imports are not, nor its
place in a session. Tests of these start the interpreter.
"""

import array
import atexit
import gc
import marshal
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

HOME = Path(__file__).resolve().parents[2]
PROGRAMS = ("judgescope", "judgescope.cli.unread_replies", "snakemake")
"""Modules that are run with -m."""
APART = (
    *("judgescope.extensions.distill.training", "judgescope.engines.vllm"),
    *("judgescope.api.", "judgescope.schema.tables"),
)
"""What wants other environments, and what wants pandas."""
SLURM = "snakemake_executor_plugin_slurm"
"""It imports pandas, which jobs hide: no fork finds it, and words with `slurm` start
Python."""
LAZY = (
    "altair",
    "aiohttp",
    "argparse_dataclass",
    "jinja2",
    "platformdirs",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rouge_score.rouge_scorer",
    "sacrebleu",
    "scipy.optimize",
    "scipy.stats",
    "smart_open",
    "snakemake.api",
    "snakemake.cli",
    "snakemake.executors.local",
    "snakemake.executors.touch",
    "snakemake.profiles",
    "snakemake.report.html_reporter",
    "snakemake.scheduling.greedy",
    "snakemake.sourcecache",
    "snakemake.storage",
    "snakemake_logger_plugin_judgescope",
    "vl_convert",
)
"""What programs import when they first need it."""

CLIENT = """#!{python} -IS
import os, sys
python, home, paths, address = {python!r}, {home!r}, {paths!r}, {address!r}
told = sys.argv[1:]
scripts = home + "/scripts"
files = [one for one in told if one.endswith((".smk", "Snakefile"))]
ours = told[:1] == ["-m"] and told[1:2] in {programs!r} or told[:1] and (
    os.path.dirname(told[0]) == scripts
)
if (
    not ours
    or any("slurm" in one for one in told)
    or os.environ.get("PYTHONPATH") != paths
    or not all(one.startswith(home + "/") for one in files)
):
    os.execv(python, [python, *told])
import _socket, marshal, signal, struct
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
line.connect(address)
whole = marshal.dumps((told, os.getcwd(), dict(os.environ)))
rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))
line.sendmsg([struct.pack("Q", len(whole))], [rights])
line.sendall(whole)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, lambda number, _: line.sendall(bytes([number])))
status = struct.unpack("i", line.recv(4))[0]
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@cache
def client(home: Path = HOME, guard: Path | None = None) -> str:
    """Return the path of the program to be started in the interpreter's place, to the
    tests' end.

    The code of the checkout at `home` is that of now. In `guard` is what every process
    loads first.
    """
    path, end = _started(home, guard)
    atexit.register(end)
    return path


@contextmanager
def client_for_now(home: Path) -> Iterator[str]:
    """Give the same for a while: a checkout whose code has just been changed."""
    path, end = _started(home, None)
    try:
        yield path
    finally:
        end()


def _started(home: Path, guard: Path | None) -> tuple[str, Callable[[], None]]:
    """Start a server; return the path of its client, and what ends both."""
    folder = tempfile.mkdtemp(prefix="warm-")
    paths = os.pathsep.join(str(each) for each in (guard, home / "scripts") if each)
    address = f"\0{folder}"
    ready, message = os.pipe()
    # what it waits for is the end of this process: then its standard input ends
    process = subprocess.Popen(
        [sys.executable, __file__, address[1:], str(message)],
        stdin=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        pass_fds=[message],
        start_new_session=True,
    )
    os.close(message)
    with open(ready, "rb") as file:
        assert file.read() == b"ready", "what the programs import cannot be imported"
    text = CLIENT.format(
        python=sys.executable,
        home=str(home),
        paths=paths,
        address=address,
        programs=[[program] for program in PROGRAMS],
    )
    path = Path(folder, "python")
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path), partial(_end, process, path, os.getpid())


def _end(process: subprocess.Popen[bytes], path: Path, owner: int) -> None:
    """Let the server end, in the process that started it and in none that it forked."""
    if os.getpid() == owner:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        path.unlink()
        path.parent.rmdir()


def _modules() -> Iterable[str]:
    import judgescope

    for module in pkgutil.walk_packages(judgescope.__path__, "judgescope."):
        if not module.name.startswith(APART) and not module.name.endswith("__main__"):
            yield module.name
    yield from LAZY


def _compile_templates() -> None:
    """Compile the templates of the report and of judges' pages, which most studies
    fill.
    """
    from judgescope.report.page import filled

    for root in (None, "", "../"):
        for path in (HOME / "workflow" / "report").glob("*.jinja"):
            filled(root).get_template(path.name)


def serve(address: str, ready: int) -> Callable[[], int]:
    """Fork for every client until standard input ends; return, in a child, what it is
    to do.
    """
    from judgescope.core.process_limits import without

    every = pkgutil.iter_modules
    vars(pkgutil)["iter_modules"] = lambda *where: (
        each for each in every(*where) if each.name != SLURM
    )
    with_pandas = []
    with without("pandas"):  # as jobs do, apart from those of the report
        for name in _modules():
            try:
                import_module(name)
            except ModuleNotFoundError as error:
                if error.name != "pandas":
                    raise
                with_pandas.append(name)
    for name in with_pandas:
        import_module(name)
    _compile_templates()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{address}")
    listener.listen(64)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)
    os.write(ready, b"ready")
    os.close(ready)
    while True:
        for key, _ in selector.select():
            if key.fileobj == 0:
                sys.exit()
            elif key.fileobj is listener:
                line = listener.accept()[0]
                result, streams = _request(line)
                if (process := os.fork()) == 0:
                    selector.close()
                    listener.close()
                    line.close()
                    return lambda: _become(*result, streams=streams)
                for stream in streams:
                    os.close(stream)
                ended = os.pidfd_open(process)
                selector.register(line, selectors.EVENT_READ, process)
                selector.register(ended, selectors.EVENT_READ, (process, line))
            elif isinstance(
                key.data, int
            ):  # a signal for a program, or the end of its client
                numbers = key.fileobj.recv(16)  # type: ignore[union-attr]
                for number in numbers or [signal.SIGKILL]:
                    os.kill(key.data, number)
                if not numbers:
                    selector.unregister(key.fileobj)
            else:
                process, line = key.data
                selector.unregister(key.fileobj)
                os.close(int(key.fileobj))  # type: ignore[arg-type]
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                with suppress(KeyError):
                    selector.unregister(line)
                with suppress(OSError):
                    line.sendall(status.to_bytes(4, sys.byteorder, signed=True))
                line.close()
                break  # what else was found may be about the line that is closed


def _request(
    line: socket.socket,
) -> tuple[tuple[list[str], str, dict[str, str]], list[int]]:
    streams = array.array("i")
    size, rights, _, _ = line.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    complete = b""
    while len(complete) < int.from_bytes(size, sys.byteorder):
        complete += line.recv(1 << 20)
    return marshal.loads(complete), list(streams)


def _become(
    names: list[str], folder: str, variables: dict[str, str], streams: list[int]
) -> int:
    """Run a program in this process as the interpreter would; return its status."""
    import judgescope

    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables | judgescope.NO_TELEMETRY)
    sys.executable = str(Path(tempfile.gettempdir(), ADDRESS, "python"))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = names[1]
    if names[0] == "-m" and not hasattr(sys.modules.get(module), "__path__"):
        sys.modules.pop(module, None)  # runpy warns of a module that is there
    try:
        if names[0] == "-m":
            sys.argv = names[1:]
            sys.path[0] = folder
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.argv = names
            sys.path[0] = str(Path(judgescope.__file__).parents[1])
            runpy.run_path(names[0], run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _leave(status: int) -> NoReturn:
    """End as an interpreter does, but for the memory, which the system takes back
    faster.
    """
    exits: Any = atexit
    threads: Any = threading
    threads._shutdown()
    exits._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status & 0xFF)


if __name__ == "__main__":
    ADDRESS = sys.argv[1]
    _leave(serve(ADDRESS, int(sys.argv[2]))())
