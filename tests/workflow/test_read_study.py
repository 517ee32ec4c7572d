"""A study whose judges answer in their own ways: unread at first, then read by the key
`read` of their cards, without another request.
"""

import hashlib
import html
import subprocess
from pathlib import Path
from typing import Any

import pytest

from asking import FAST
from judgescope.cli.reread import MAX_EXAMPLES
from scripted import Body, Endpoint, Said, reply, serve
from study import Study

pytestmark = pytest.mark.slow
KINDS = {31: "grader", 32: "labeller", 33: "chooser"}
"""max_tokens -> the judge that asks."""
DATASETS = {
    "grader": "demo-dialogue",
    "labeller": "demo-answers",
    "chooser": "demo-pairs",
}
RULES: dict[str, dict[str, Any]] = {
    "grader": {
        "read": {
            "pattern": r"assessment is (?P<verdict>\w+)",
            "map": {"poor": 2, "good": 4},
        },
        "examples": [
            {"reply": "My assessment is good.", "value": 4},
            {"reply": "No comment.", "value": None},
        ],
    },
    "labeller": {
        "read": {"path": "result.ok", "map": {"true": "pass", "false": "fail"}},
        "examples": [{"reply": '{"result": {"ok": false}}', "value": "fail"}],
    },
    "chooser": {
        "read": {
            "pattern": "number (?P<verdict>one|two)",
            "map": {"one": "A", "two": "B"},
        },
        "examples": [{"reply": "I go with number two.", "value": "B"}],
    },
}


def answered(body: Body) -> Said:
    """Answer in a way that no built-in parser reads."""
    even = body["seed"] % 2 == 0
    texts = {
        "grader": f"My assessment is {'good' if even else 'poor'}.",
        "labeller": f'{{"result": {{"ok": {str(even).lower()}}}, "why": "It is so."}}',
        "chooser": f"I go with number {'one' if even else 'two'}.",
    }
    return reply(texts[KINDS[body["max_tokens"]]])


def files_of(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".snakemake" not in path.parts
    }


class ReadStudy(Study):
    """A study of scores, labels and choices of three judges behind one endpoint."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        super().__init__(
            folder,
            study="read",
            datasets=[*DATASETS.values()],
            aspects=[],
            judges=[*RULES],
            perturbations=[],
            methods=["agreement", "labels", "pairwise"],
        )
        self.endpoint = endpoint
        self.card(
            "models",
            "loop",
            engine="openai",
            base_url=endpoint.url,
            limits=FAST,
            probe=False,
        )
        self.cards({name: {} for name in RULES})
        self.write()

    def cards(self, keys: dict[str, dict[str, Any]]) -> None:
        forms = {"grader": "score-only", "labeller": "verdict", "chooser": "compare"}
        aspects = {
            "grader": "naturalness",
            "labeller": "correctness",
            "chooser": "overall",
        }
        for limit, name in KINDS.items():
            self.card(
                "judges",
                name,
                model="loop",
                form=forms[name],
                aspects=[aspects[name]],
                max_tokens=limit,
                **keys[name],
            )

    def reread(self) -> subprocess.CompletedProcess[str]:
        return self.judgescope("replies", "reread")

    def coverage(self, judge: str) -> dict[str, dict[str, Any]]:
        rows = self.rows("coverage")
        return {row["statistic"]: row for row in rows if row["judge"] == judge}


@pytest.mark.long(27)
def test_replies_are_read_as_the_cards_say_and_nothing_is_asked_again(
    tmp_path: Path,
) -> None:
    with serve(answered) as endpoint:
        study = ReadStudy(tmp_path, endpoint)
        first = study.run()
        assert first.returncode == 0, first.stdout
        n_asked = len(endpoint.asked)
        for judge, dataset in DATASETS.items():
            assert f"warning: {dataset}: " in first.stdout
            assert f"judgments of {judge} have no value (unparsed " in first.stdout
            assert study.coverage(judge)["coverage"]["value"] == 0
            note = study.coverage(judge)["count_unparsed"]["note"]
            assert "`read: {pattern: …}` or `read: {path: …}`" in note
        assert '60 of shape {"w": {"w": w}, "w": "w…"}' in first.stdout
        for page in (study.out / "report").rglob("*.html"):
            if page.stem == "labeller":
                shown = html.unescape(page.read_text(encoding="utf-8"))
                assert '60 of shape {"w": {"w": w}, "w": "w…"}' in shown
                break
        else:
            pytest.fail("no page of the labeller")
        shown_again = study.judgescope("show")
        assert '60 of shape {"w": {"w": w}, "w": "w…"}' in shown_again.stdout
        unread_signature = study.coverage("grader")["coverage"]["signature"]

        # Both commands only read what is stored.
        checked = study.judgescope("check")
        assert checked.returncode == 0, checked.stdout
        assert (
            "warning: 120 of 120 replies of judges/grader.yaml have no verdict"
            in checked.stdout
        )
        assert "120 of shape w…" in checked.stdout
        assert "  such as: My assessment is " in checked.stdout

        study.cards(RULES)
        before = files_of(study.out)
        reread = study.reread()
        assert reread.returncode == 0, reread.stdout
        assert files_of(study.out) == before
        rows = [line.split() for line in reread.stdout.splitlines()]
        assert ["grader", "120", "120", "0", "0"] in rows
        assert ["labeller", "60", "60", "0", "0"] in rows
        assert ["chooser", "24", "24", "0", "0"] in rows
        moved = "grader 120 unparsed (no_verdict) ok (pattern)"
        assert moved.split() in rows
        assert sum("unparsed" in row for row in rows) == 3 + MAX_EXAMPLES
        assert "Nothing was changed." in reread.stdout

        second = study.run()
        assert second.returncode == 0, second.stdout
        assert len(endpoint.asked) == n_asked
        assert "unread replies: " not in second.stdout
        for judge in RULES:
            assert study.coverage(judge)["coverage"]["value"] == 1
        signature = study.coverage("grader")["coverage"]["signature"]
        assert "|parser:pattern|" in signature
        assert signature != unread_signature

        again = study.reread()
        assert "are what the present parsers read" in again.stdout
        checked = study.judgescope("check")
        assert "have no verdict" not in checked.stdout
        assert len(endpoint.asked) == n_asked

        example = {"reply": "My assessment is poor.", "value": 5}
        grader = {**RULES["grader"], "examples": [example]}
        study.cards({**RULES, "grader": grader})
        refused = study.judgescope("check")
        assert refused.returncode != 0
        for part in ("'My assessment is poor.'", "2 (status ok", "verdict 5"):
            assert part in refused.stdout
