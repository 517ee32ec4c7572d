"""Engine `python`: what a function receives, what it may return, and how it fails."""

import doctest
import os
import re
import signal
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from judgescope.core.errors import UserError
from judgescope.engines import python_child
from judgescope.engines.factory import asking, settled
from judgescope.engines.python_function import completed
from judgescope.engines.requests import Reply, Request, Work
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.parsers import parsed_by
from judgescope.schema.cards import PythonModel
from running import HOME
from waiting import patience

LENGTH = "def score(text):\n    return len(text)\n"


def draft(folder: Path, source: str = LENGTH, **keys: Any) -> PythonModel:
    """Write a file with a function and return a card that names it."""
    (folder / "metric.py").write_text(textwrap.dedent(source), encoding="utf-8")
    fields = {"model": "mine", "engine": "python", "function": "metric.py:score"}
    return PythonModel.model_validate({**fields, "timeout": 20, **keys})


def card(folder: Path, source: str = LENGTH, **keys: Any) -> PythonModel:
    result = settled(draft(folder, source, **keys), folder, folder)
    assert isinstance(result, PythonModel)
    return result


def requests(model: PythonModel, *targets: str | dict[str, Any]) -> list[Request]:
    asked = []
    for target in targets:
        fields = {"text": target} if isinstance(target, str) else target
        asked.append(Request({**model.identity(), "target": fields}))
    return asked


def ask(model: PythonModel, *targets: str | dict[str, Any]) -> list[Reply]:
    """Ask for targets in their order; return the replies in the same order."""
    asked = requests(model, *targets)
    kept = list[Reply]()
    work = [Work(request, (0,)) for request in asked]
    assert asking(model)(work, False, kept.append) == []
    by_key = {reply.key: reply for reply in kept}
    return [by_key[request.key] for request in asked]


def refused(
    model: PythonModel, *targets: str, proven: bool = False
) -> tuple[UserError, list[Reply]]:
    kept = list[Reply]()
    work = [Work(request, (0,)) for request in requests(model, *targets)]
    with pytest.raises(UserError) as error:
        asking(model)(work, proven, kept.append)
    return error.value, kept


# --- values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "text", "value"),
    [
        ("4", "4", 4.0),
        ("0.25", "0.25", 0.25),
        ("True", "1", 1.0),
        ("__import__('numpy').float32(0.5)", "0.5", 0.5),
        ("__import__('decimal').Decimal('1.5')", "1.5", 1.5),
        ("'3'", "3", 3.0),
        ("None", "", None),
        ("float('nan')", "nan", None),
        ("{'score': 2, 'reason': 'Short.'}", '{"score": 2, "reason": "Short."}', 2.0),
        ("{'score': 2}", "2", 2.0),
        ("{'score': None, 'reason': 'Empty.'}", "", None),
    ],
)
def test_what_is_returned_is_read(
    returned: str, text: str, value: float | None, tmp_path: Path
) -> None:
    [reply] = ask(card(tmp_path, f"def score(text):\n    return {returned}\n"), "a")
    assert (reply.status, reply.finish, reply.text) == ("ok", "stop", text)
    assert reply.provenance == {"engine": "python", "model": "mine"}
    judged = parsed_by(PARSERS["returned"], scale=None)(reply.text, "stop", "ok")
    assert judged.value == value and judged.status == ("empty", "ok")[value is not None]
    assert judged.rationale == ("Short." if "Short" in text else None)


def test_a_label_of_the_scale_is_a_string(tmp_path: Path) -> None:
    source = """
        def score(text, scale):
            label = scale["labels"][-1]
            return {"score": label, "reason": "Fine."} if text == "b" else label
    """
    scale = {"labels": ["fail", "pass"]}
    targets = [{"text": name, "scale": scale} for name in ("a", "b")]
    replies = ask(card(tmp_path, source), *targets)
    of_labels = Scale(
        0, 1, 1, labels=("fail", "pass"), words=(("fail", 0), ("pass", 1))
    )
    read = parsed_by(PARSERS["returned"], scale=of_labels)
    judged = [read(reply.text, "stop", "ok") for reply in replies]
    assert [each.value for each in judged] == [1.0, 1.0]
    assert [each.rationale for each in judged] == [None, "Fine."]


def test_a_text_is_for_the_parser_of_the_judge(tmp_path: Path) -> None:
    [reply] = ask(card(tmp_path, "def score(text):\n    return 'Rating: 4'\n"), "a")
    judged = parsed_by(PARSERS["score"], scale=Scale(1, 5, 1))
    assert judged(reply.text, "stop", "ok").value == 4.0


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("[1]", "returned a value of type list"),
        ("{'points': 1}", "returned a dict of points, not of score and reason"),
        ("b'1'", "returned a value of type bytes"),
    ],
)
def test_what_is_no_score_is_an_error_of_the_text(
    returned: str, message: str, tmp_path: Path
) -> None:
    source = f"def score(text):\n    return 1 if text == 'good' else {returned}\n"
    good, bad = ask(card(tmp_path, source), "good", "bad")
    assert good.text == "1" and (bad.status, bad.finish) == ("error", "error")
    assert bad.text.startswith(message)


def test_the_examples_of_the_child_are_right() -> None:
    failed, tried = doctest.testmod(python_child)
    assert failed == 0 and tried > 0


# --- arguments ------------------------------------------------------------------------


def test_a_function_receives_what_its_signature_names(tmp_path: Path) -> None:
    source = """
        import json
        def score(text, source=None, *, references=(), meta=None, **more):
            return json.dumps([text, source, list(references), meta, more])
    """
    model = card(tmp_path, source)
    assert model.sees == {"text", "source", "references", "meta"}
    target = {"text": "a", "source": "b", "references": ["c"], "meta": {"id": "d"}}
    [reply] = ask(model, target)
    assert reply.text == '["a", "b", ["c"], {"id": "d"}, {}]'


def test_a_batch_is_lists_of_values(tmp_path: Path) -> None:
    source = """
        def score(text, source):
            assert isinstance(text, list) and len(text) <= 2, text
            return [len(text) * 10 + len(one) for one in text]
    """
    targets = [{"text": "x" * size, "source": None} for size in (1, 2, 3)]
    replies = ask(card(tmp_path, source, batch=2), *targets)
    assert [reply.text for reply in replies] == ["21", "22", "13"]


def test_a_batch_that_lacks_values_is_an_error_of_its_texts(tmp_path: Path) -> None:
    source = """
        def score(text):
            if text == ["a", "b"]:
                return [1]
            return "no" if text == ["e", "f"] else [1] * len(text)
    """
    replies = ask(card(tmp_path, source, batch=2), *"abcdef")
    statuses = [reply.status for reply in replies]
    assert statuses == ["error", "error", "ok", "ok", "error", "error"]
    assert "returned 1 values for a batch of 2 texts" in replies[0].text
    assert "returned a str for a batch" in replies[4].text


@pytest.mark.parametrize(
    ("source", "message", "nearest"),
    [
        ("def score(txt):\n    return 1\n", "argument that is not known", "text"),
        ("def score(text, refernces):\n    return 1\n", "not known", "references"),
        ("def scores(text):\n    return 1\n", "no function of this name", "scores"),
        ("async def score(text):\n    return 1\n", "asynchronous", None),
        ("def score(text, /):\n    return 1\n", "passed by name", None),
        ("def score(source):\n    return 1\n", "does not receive the text", None),
        ("def score(text)\n    return 1\n", "is not Python", None),
    ],
)
def test_a_signature_that_does_not_fit_is_an_error_of_the_card(
    source: str, message: str, nearest: str | None, tmp_path: Path
) -> None:
    written = f"open('run', 'w')\n{source}"
    with pytest.raises(UserError, match=message) as error:
        completed(draft(tmp_path, written), tmp_path, tmp_path)
    assert error.value.where.startswith("models/mine.yaml, key function")
    if nearest:
        assert error.value.nearest() == nearest
    # The file was read and not run.
    assert [path.name for path in tmp_path.iterdir()] == ["metric.py"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"function": "metric.py"}, "pattern"),
        ({"function": "metric:score"}, "pattern"),
        ({"files": {"function": "other.py"}}, "use another role"),
        ({"files": {"python": "other.py"}}, "reserved"),
        ({"batch": 0}, "greater than or equal to 1"),
        ({"price": {"input": 1, "output": 1}}, "price"),
    ],
)
def test_keys_that_do_not_fit_are_refused(
    keys: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValidationError, match=message):
        draft(tmp_path, **keys)


def test_the_function_of_the_guide_is_a_judge(tmp_path: Path) -> None:
    guide = (HOME / "docs" / "guide" / "programs.md").read_text(encoding="utf-8")
    [source] = re.findall(r"```python\n# my_metric.py\n(.*?)```", guide, re.S)
    pattern = r"```yaml\n# config/models/my-metric.yaml\n(.*?)```"
    [text] = re.findall(pattern, guide, re.S)
    content = yaml.safe_load(text)
    folder = tmp_path / "config" / "models"
    folder.mkdir(parents=True)
    (tmp_path / "my_metric.py").write_text(source, encoding="utf-8")
    result = settled(PythonModel.model_validate(content), folder, tmp_path)
    assert isinstance(result, PythonModel)
    target = {"text": "A b c d", "source": "a b"}
    scored, empty = ask(result, target, {"text": "", "source": "a"})
    assert scored.text == '{"score": 0.5, "reason": "4 words"}' and empty.text == ""


# --- files ----------------------------------------------------------------------------


def test_the_key_is_the_content_of_the_files_and_not_their_location(
    tmp_path: Path,
) -> None:
    source = "from helper import size\ndef score(text):\n    return size(text)\n"
    places = [tmp_path / name for name in ("a", "b")]
    for location in places:
        location.mkdir()
        (location / "helper.py").write_text("def size(text):\n    return 7\n")
    files = {"helper": "helper.py"}
    first, second = (card(location, source, files=files) for location in places)
    assert first.identity() == second.identity()
    assert ask(first, "a")[0].text == "7"
    (places[1] / "helper.py").write_text("def size(text):\n    return 8\n")
    assert card(places[1], source, files=files).identity() != first.identity()
    assert card(places[1], source + "#", files=files).sha256 != second.sha256
    other = card(places[0], source + "\nother = score\n", files=files)
    assert other.identity() != first.identity()


@pytest.mark.parametrize(
    "source",
    [
        "import helper\n",
        "from helper import size\n",
        "def score(text):\n    from helper import size\n    return size(text)\n",
        "import package.part\n",
        "from package import part\n",
        "import inner\n",
    ],
)
def test_a_module_beside_the_function_must_be_in_the_card(
    source: str, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("def size(text):\n    return 7\n")
    (tmp_path / "inner.py").write_text("import helper\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "part.py").write_text("")
    files = {"inner": "inner.py"} if source == "import inner\n" else {}
    if "def score" not in source:
        source += LENGTH
    with pytest.raises(UserError, match="imports a module that `files` does not name"):
        completed(draft(tmp_path, source, files=files), tmp_path, tmp_path)


def test_a_module_that_only_running_shows_ends_the_job(tmp_path: Path) -> None:
    source = """
        import importlib
        def score(text):
            return importlib.import_module("hel" + "per").size(text)
    """
    (tmp_path / "helper.py").write_text("def size(text):\n    return 7\n")
    error, kept = refused(card(tmp_path, source), "a")
    assert not kept and "exited with code 3" in str(error)
    assert "imported helper.py, which `files` of its card does not name" in str(error)
    named = card(tmp_path, source, files={"helper": "helper.py"})
    assert ask(named, "a")[0].text == "7"


def test_modules_of_this_package_do_not_stand_in_for_others(tmp_path: Path) -> None:
    """`engines/requests.py` lies beside the file that starts a process."""
    source = """
        import importlib.util
        def score(text):
            found = importlib.util.find_spec("requests")
            return 0 if found is None else int("judgescope" in found.origin)
    """
    assert ask(card(tmp_path, source), "a")[0].text == "0"


# --- failures -------------------------------------------------------------------------

FAILS = """
    def score(text):
        if text.startswith("bad"):
            raise ValueError(f"no words in {text}")
        if text == "exit":
            raise SystemExit("left")
        return len(text)
"""


def test_an_exception_is_the_error_of_its_text(tmp_path: Path) -> None:
    replies = ask(card(tmp_path, FAILS), "bad", "good", "exit")
    assert [reply.status for reply in replies] == ["error", "ok", "error"]
    assert replies[0].text == "ValueError: no words in bad"
    assert replies[2].text == "SystemExit: left"


def test_eight_exceptions_at_the_start_end_the_job_and_none_is_stored(
    tmp_path: Path,
) -> None:
    texts = [f"bad {number}" for number in range(9)]
    error, kept = refused(card(tmp_path, FAILS), *texts, "good")
    assert not kept and error.where == "models/mine.yaml, key function"
    assert "failed for its first 8 texts: ValueError: no words in bad" in str(error)


def test_seven_exceptions_at_the_start_are_errors_of_their_texts(
    tmp_path: Path,
) -> None:
    texts = [f"bad {number}" for number in range(7)]
    model = card(tmp_path, FAILS)
    statuses = [reply.status for reply in ask(model, *texts, "good")]
    assert statuses == ["error"] * 7 + ["ok"]
    assert {reply.status for reply in ask(model, *texts)} == {"error"}


def test_a_function_with_stored_answers_may_fail_for_many_texts(
    tmp_path: Path,
) -> None:
    model = card(tmp_path, FAILS)
    kept = list[Reply]()
    texts = [f"bad {number}" for number in range(20)]
    work = [Work(request, (0,)) for request in requests(model, *texts)]
    asking(model)(work, True, kept.append)
    assert len(kept) == 20


def test_a_file_that_cannot_be_loaded_ends_the_job(tmp_path: Path) -> None:
    source = "import not_a_package_of_anybody\n" + LENGTH
    error, kept = refused(card(tmp_path, source), "a")
    assert not kept and "No module named 'not_a_package_of_anybody'" in str(error)


def test_what_is_printed_is_no_answer(tmp_path: Path) -> None:
    source = """
        import json, os, sys
        def score(text):
            print(json.dumps({"id": "x", "score": 9}))
            os.write(1, b'{"id": "y", "score": 9}\\n')
            sys.stdout.flush()
            assert sys.stdin.read() == ""
            return len(text)
    """
    assert [reply.text for reply in ask(card(tmp_path, source), "a", "bb")] == [
        "1",
        "2",
    ]


def test_a_killed_function_ends_the_job_and_answers_stay(tmp_path: Path) -> None:
    source = """
        import os, signal
        def score(text):
            if text == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            return len(text)
    """
    error, kept = refused(card(tmp_path, source), "good", "die", "never")
    assert [reply.text for reply in kept] == ["4"]
    assert "terminated by signal 9" in str(error) and "not answered: 2 of 3" in str(
        error
    )


def test_a_function_that_hangs_is_killed_after_the_timeout(tmp_path: Path) -> None:
    source = "import time\ndef score(text):\n    time.sleep(600)\n"
    error, _ = refused(card(tmp_path, source, timeout=0.5), "a")
    assert "did not finish within 0.5 s" in str(error)


def test_a_function_sees_the_variables_of_its_card_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SETTING", "a-secret-of-some-length")
    monkeypatch.setenv("MY_SECRET", "hidden")
    source = """
        import os
        def score(text):
            return f"{os.environ.get('MY_SETTING')} {os.environ.get('MY_SECRET')}"
    """
    [reply] = ask(card(tmp_path, source, env=["MY_SETTING"]), "a")
    assert reply.text == "<MY_SETTING> None"


def test_workers_run_at_once(tmp_path: Path) -> None:
    source = """
        import os, time
        def score(text):
            open(text, "w").close()
            ends = time.monotonic() + 20
            while time.monotonic() < ends:
                if os.path.exists("a") and os.path.exists("b"):
                    return 1
                time.sleep(0.01)
            raise TimeoutError
    """
    folder = repr(str(tmp_path))
    source = textwrap.dedent(source).replace("time.sleep(0.01)", "time.sleep(0.02)")
    model = card(tmp_path, f"import os\nos.chdir({folder})\n{source}", workers=2)
    per_start = model.per_start
    assert per_start == 1000
    class_ = type(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_, "per_start", property(lambda _: 1))
        assert [reply.text for reply in ask(model, "a", "b")] == ["1", "1"]


def test_a_killed_job_leaves_no_process(tmp_path: Path) -> None:
    source = f"""
        import os, time
        def score(text):
            with open({str(tmp_path / "pid")!r}, "w") as file:
                file.write(str(os.getpid()))
            time.sleep(600)
    """
    model = card(tmp_path, source, timeout=600)
    written = tmp_path / "pid"

    def end() -> None:
        ends = time.monotonic() + patience(20)
        while not (written.exists() and written.read_text()):
            assert time.monotonic() < ends
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(SystemExit) as ended:
        ask(model, "a")
    thread.join()
    assert ended.value.code == 128 + signal.SIGTERM
    ends = time.monotonic() + patience(20)
    while time.monotonic() < ends:
        try:
            os.kill(int(written.read_text()), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the process is still there")
