"""A study of a judge whose replies often have no text: each kind has its own reason."""

from pathlib import Path
from typing import Any

import pytest

from asking import FAST
from scripted import Body, Endpoint, Said, reply, serve
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(12)]
SENT: dict[int, tuple[Any, dict[str, Any]]] = {
    0: ("Rating: 4", {}),
    1: (None, {}),
    2: ("", {}),
    3: (None, {"tool_calls": [{"function": {"name": "rate", "arguments": ""}}]}),
}
"""The seed, modulo their number -> the content that is sent, and the other fields."""
RULES = ("null_content", "empty", "empty_tool_call")


def sent(body: Body) -> Said:
    content, fields = SENT[body["seed"] % len(SENT)]
    return reply(content, **fields)


def numbers_of(note: str) -> dict[str, int]:
    """Return rule -> number from a note such as `empty 3, null_content 2`."""
    named = (entry.rsplit(" ", 1) for entry in note.split(", "))
    return {name: int(number) for name, number in named}


def study_of(folder: Path, endpoint: Endpoint) -> Study:
    study = Study(
        folder,
        study="textless",
        datasets=["demo-dialogue"],
        aspects=["naturalness"],
        judges=["grader"],
        perturbations=[],
        methods=["agreement"],
    )
    study.card(
        "models",
        "loop",
        engine="openai",
        base_url=endpoint.url,
        limits=FAST,
        probe=False,
    )
    study.card("judges", "grader", model="loop", form="score-only", max_tokens=31)
    study.write()
    return study


def test_null_empty_and_tool_calls_without_arguments_are_distinguished(
    tmp_path: Path,
) -> None:
    with serve(sent) as endpoint:
        study = study_of(tmp_path, endpoint)
        ran = study.run()
        assert ran.returncode == 0, ran.stdout
        seeds = [body["seed"] % len(SENT) for body in endpoint.asked]
        expected = {RULES[kind - 1]: seeds.count(kind) for kind in (1, 2, 3)}
        assert all(expected.values())

        rows = study.rows("coverage")
        [note] = [row["note"] for row in rows if row["statistic"] == "count_empty"]
        assert numbers_of(note) == expected

        shown = study.judgescope("replies", "show", "--rows", "0")
        assert shown.returncode == 0, shown.stdout
        reasons = ", ".join(f"{rule} {expected[rule]}" for rule in sorted(RULES))
        assert f"empty {sum(expected.values())} ({reasons})" in shown.stdout
        assert shown.stdout.count("(null in place of a text)") == expected[RULES[0]]
        assert shown.stdout.count("(an empty text)") == expected["empty"]

        checked = study.judgescope("check")
        for result in (ran.stdout, checked.stdout):
            assert f"{expected['empty']} of shape (an empty text)" in result
            assert f"{expected[RULES[0]]} of shape (null in place of a text)" in result
            assert "replies retry STUDY --empty" in result

        n_asked = len(endpoint.asked)
        reread = study.judgescope("replies", "reread")
        assert "are what the present parsers read" in reread.stdout
        assert len(endpoint.asked) == n_asked
