"""Programs that break: what they break is told, what came is kept, nothing is left
running.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.command import LONGEST
from judgescope.plan.preflight import FileOwner, PreflightSpec, verified
from judgescope.schema.cards import CommandModel
from judgescope.schema.loading import adapter, validate_card
from programs import (
    LENGTHS,
    SLEEPERS,
    alive,
    ask,
    card,
    gone,
    number_in,
    refused,
    texts_of,
)
from waiting import patience


@pytest.mark.parametrize(
    "message",
    [
        "{}",
        "{'score': '3'}",
        "{'score': True}",
        "{'text': 3}",
        "{'score': 3, 'text': '3'}",
        "{'error': None}",
        "{'score': [3]}",
    ],
)
def test_an_answer_that_is_neither_ends_the_job(tmp_path: Path, message: str) -> None:
    error, kept = refused(
        card(tmp_path, f"for one in read(): tell(one, **{message})"), "x", "y"
    )
    assert (
        "without exactly one of `score`, `text` and `error`" in str(error)
        and kept == []
    )


def test_noise_is_passed_over_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = r"""
    print("Loading \x1b[31mweights\x1b[0m ...\n\n[1, 2]\n3\n{'not': 'json'}")
    for one in read(): tell(one, score=1); print('{"level": "info"}')
    sys.stdout.buffer.write(b'\xff\xfe\n')
    """
    assert texts_of(ask(card(tmp_path, program), "x")) == ["1"]
    assert "not an answer: 6, first 'Loading weights ...'" in capsys.readouterr().out


def test_bytes_that_are_no_utf8_become_signs_of_it(tmp_path: Path) -> None:
    program = r"""
    for one in read():
        head = json.dumps({"id": one["id"]}).encode()[:-1]
        sys.stdout.buffer.write(head + b', "text": "caf\xe9"}\n')
    """
    assert texts_of(ask(card(tmp_path, program), "x")) == ["caf\ufffd"]


@pytest.mark.heavy
def test_a_last_line_without_its_end_is_an_answer_or_noise(tmp_path: Path) -> None:
    text = "[one] = read(); sys.stdout.write(json.dumps({'id': one['id'], 'score': 1}))"
    assert texts_of(ask(card(tmp_path, text), "x")) == ["1"]
    torn = text.replace("1}))", "1})[:-3])")
    error, kept = refused(card(tmp_path, torn), "x")
    assert kept == [] and "output that is not an answer: 1" in str(error)


@pytest.mark.parametrize(
    ("program", "parts"),
    [
        (
            "raise SystemExit('no such weights')",
            ["exited with code 1", "last output: no such weights"],
        ),
        (
            "raise ValueError('\\x1b[1mbad\\x1b[0m\\n')",
            ["exited with code 1", "ValueError: bad"],
        ),
        ("os.abort()", ["was terminated by signal 6 (Aborted)"]),
        ("pass", ["exited with code 0"]),
        (
            "print('3.5')",
            ["exited with code 0", "output that is not an answer: 1, first '3.5'"],
        ),
        ("os.close(1); os.close(2); os._exit(7)", ["exited with code 7"]),
    ],
)
def test_a_program_that_answers_nothing_is_reported_with_its_last_words(
    tmp_path: Path, program: str, parts: list[str]
) -> None:
    error, kept = refused(card(tmp_path, program), "first", "second")
    assert kept == []
    for part in [*parts, "not answered: 2 of 2, first text first"]:
        assert part in str(error)


def test_a_flood_of_errors_is_drained_and_its_end_is_shown(tmp_path: Path) -> None:
    program = """
    for _ in range(3000): sys.stderr.write("warning " * 100 + "\\n")
    given = read()
    tell(given[0], score=1)
    sys.exit("the end")
    """
    error, kept = refused(card(tmp_path, program), "x", "y")
    assert len(kept) == 1 and str(error).count("warning") < 60
    assert "the end" in str(error) and "not answered: 1 of 2, first text y" in str(
        error
    )


def test_what_came_before_a_crash_is_kept(tmp_path: Path) -> None:
    program = """
    for number, one in enumerate(read()):
        if number == 3: os.abort()
        tell(one, score=number)
    """
    error, kept = refused(card(tmp_path, program, batch=5), *"abcdefgh")
    assert texts_of(kept) == ["0", "1", "2"]
    assert "not answered: 2 of 5, first text d" in str(error)


def test_an_end_in_error_after_the_last_answer_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert texts_of(ask(card(tmp_path, LENGTHS + "os._exit(3)"), "x", "yy")) == [
        "1",
        "2",
    ]
    assert "exited with code 3, after its last answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "part"),
    [
        ("tell({'id': 'other'}, score=1)", "for an unknown id: other"),
        ("tell({'id': 7}, score=1)", "for an unknown id: 7"),
        ("[tell(one, score=1) for one in read()[:1] * 2]", "answered twice for one id"),
        (f"print('x' * {LONGEST + 2})", "a line of more than"),
        ("while True: sys.stdout.write('x' * 9999)", "a line of more than"),
    ],
)
def test_a_program_that_cannot_be_trusted_is_ended(
    tmp_path: Path, program: str, part: str
) -> None:
    # The program may be ended at any step: the file appears whole or never.
    rest = f"""
    with open("{tmp_path}/part", "w") as file: print(os.getpid(), file=file)
    os.replace("{tmp_path}/part", "{tmp_path}/there")
    time.sleep(60)
    """
    error, _ = refused(card(tmp_path, f"{program}\n{textwrap.dedent(rest)}"), "x", "y")
    assert part in str(error)
    assert not (tmp_path / "there").is_file() or gone(number_in(tmp_path / "there"))


@pytest.mark.heavy
def test_who_never_reads_its_input_is_no_deadlock(tmp_path: Path) -> None:
    error, _ = refused(
        card(tmp_path, "sys.exit(5)"), *(f"{n}" * 9000 for n in range(99))
    )
    assert "exited with code 5" in str(error)
    error, _ = refused(card(tmp_path, "time.sleep(60)", timeout=0.5), "x" * 999999)
    assert "did not finish within 0.5 s" in str(error)


@pytest.mark.heavy
def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = SLEEPERS.format(folder=tmp_path) + "time.sleep(60)"
    began = time.monotonic()
    error, kept = refused(card(tmp_path, program, timeout=2), "x", "y")
    assert time.monotonic() - began < patience(15)
    assert "did not finish within 2 s and was killed" in str(error)
    assert texts_of(kept) == ["1"]
    assert gone(number_in(tmp_path / "child"))


def test_what_a_program_leaves_behind_is_ended_and_does_not_hold_the_job(
    tmp_path: Path,
) -> None:
    assert texts_of(ask(card(tmp_path, SLEEPERS.format(folder=tmp_path)), "x")) == ["1"]
    assert gone(number_in(tmp_path / "child"))


JOB = """
import sys
from pathlib import Path
from judgescope.engines.factory import asking
from judgescope.engines.requests import Work
from programs import SLEEPERS, card, requests
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    model = card(folder, SLEEPERS.format(folder=folder) + "time.sleep(60)", timeout=60)
    work = [Work(one, (0,)) for one in requests(model, "x", "y")]
    asking(model)(work, False, lambda reply: print(reply.text, flush=True))
"""


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_job_ends_the_program_and_its_children(
    tmp_path: Path, number: signal.Signals
) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    child = number_in(tmp_path / "child")
    assert alive(child) and process.stdout is not None
    result = (
        process.stdout.readline()
    )  # a reply that is on its way when the signal comes is lost
    process.send_signal(number)
    more, _ = process.communicate(timeout=patience(20))
    assert process.returncode != 0 and result + more == b"1\n"
    assert gone(child)


def preflight_error(folder: Path, **keys: Any) -> str:
    """Return the error of a card whose program cannot be started, as preflight finds
    it.
    """
    fields: dict[str, Any] = {"model": "mine", "engine": "command"}
    fields |= {"argv": ["{python}", "{program}"]}
    fields |= {"files": {"program": "score.py"}}
    (folder / "score.py").write_text("", encoding="utf-8")
    model = CommandModel.model_validate(fields | keys)
    spec = PreflightSpec(
        code="",
        versions={},
        output="",
        data=str(folder),
        owners={
            "model:mine": FileOwner(
                named={**model.files},
                sha256=model.sha256,
                published={},
                folder=str(folder),
                where="models/mine.yaml",
            )
        },
        programs={"mine": model.model_dump()},
        **{key: {} for key in ("study", "cards", "cells", "judges", "asked")},
    )
    with pytest.raises(UserError) as error:
        verified(spec)
    return str(error.value)


def test_a_program_that_cannot_start_is_detected_before_anything_runs(
    tmp_path: Path,
) -> None:
    assert "program not found" in preflight_error(
        tmp_path, argv=["no-such-program-here"]
    )
    assert "not executable" in preflight_error(tmp_path, argv=["{program}"])
    assert "changes to it would not be detected" in preflight_error(
        tmp_path, argv=["{python}", "score.py"]
    )
    missing = preflight_error(tmp_path, env=["NO_SUCH_VARIABLE_HERE"])
    assert "is not set" in missing and "export NO_SUCH" in missing
    several = {"program": "{name}.py", "other": "score.py"}
    (tmp_path / "more.py").touch()
    assert "this role has several" in preflight_error(tmp_path, files=several)


def test_a_program_that_vanishes_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "there"
    program.write_text("no header\n", encoding="utf-8")
    program.chmod(0o755)
    model = card(tmp_path, argv=[str(program)])
    assert "cannot be started: Exec format error" in str(refused(model, "x")[0])


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({"argv": []}, "length 1 or more"),
        ({"argv": ["{programme}"]}, "a role that `files` does not have: programme"),
        ({"files": "score.py", "argv": ["sh"]}, "is reserved"),
        ({"files": {"python": "score.py"}, "argv": ["sh"]}, "is reserved"),
        ({"inputs": ["everything"]}, "unknown value"),
        ({"env": ["A B"]}, "the wrong format"),
        ({"batch": 0}, "must be 1 or more"),
    ],
)
def test_a_card_that_cannot_work_is_an_error(keys: dict[str, Any], part: str) -> None:
    fields = {"model": "mine", "engine": "command", "argv": ["sh"]}
    with pytest.raises(Exception) as error:
        validate_card("model", fields | keys, "models/mine.yaml")
    assert part in str(error.value)
    assert adapter("model").validate_python(fields).engine == "command"
