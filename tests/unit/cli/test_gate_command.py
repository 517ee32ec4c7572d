"""The commands `passport` and `gate`: looks at a scripted judge that may drift."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from judgescope.cli import gate as command
from judgescope.cli.anchors import AnchoredJudge
from judgescope.cli.gate import GateStatus, gate
from judgescope.cli.gate_floors import Floor
from judgescope.cli.passport import (
    Passport,
    PassportNumber,
    passport,
    read,
    write,
)
from judgescope.core.errors import UserError
from judgescope.data.tables import ingest_all
from judgescope.plan.specs import texts
from judgescope.statistics.verdict import Outcome
from scripted import Body, Said, prompt_of, reply, serve, text_in
from study import Study

pytestmark = pytest.mark.heavy
ANCHORS, DRAWS = 24, 6
NAMES = [f"t{number:02}" for number in range(ANCHORS)]


@dataclass
class Judge:
    """A scripted judge that fails texts of even number, and those of `lost` no more."""

    lost: int = 0
    asked: list[int] = field(default_factory=list)

    def says(self, body: Body) -> Said:
        result = re.search(r"answer number (\d+)", text_in(prompt_of(body)))
        assert result
        number = int(result[1])
        self.asked.append(number)
        passes = number % 2 == 1 or number // 2 < self.lost
        return reply(f"Verdict: {'pass' if passes else 'fail'}")


class Options:
    """The values of a command line."""

    def __init__(self, study: Path, **keys: Any) -> None:
        self.study = study
        self.judge, self.dataset, self.aspect = "frozen", None, None
        self.output = self.passport = Path("judge.json")
        self.horizon, self.days = 300, 90
        self.fresh = self.json = False
        self.markdown: Path | None = None
        self.require: list[str] = []
        self.slice: list[str] = []
        self.__dict__.update(keys)


@dataclass
class Place:
    """A study of a scripted judge in the working directory."""

    study: Study
    file: Path
    judge: Judge

    def passport(self, **keys: Any) -> int:
        return passport(Options(self.file, **keys))  # type: ignore[arg-type]

    def gate(self, **keys: Any) -> int:
        return gate(Options(self.file, **keys))  # type: ignore[arg-type]


@pytest.fixture
def study_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    judge = Judge()
    with serve(judge.says) as endpoint:
        own_part = Study(
            tmp_path,
            study="live",
            datasets=["answers"],
            aspects=["good"],
            judges=["frozen"],
            perturbations=[],
            methods=["labels"],
        )
        rows = [
            {"id": name, "source": f"question {at}", "system": "bot"}
            | {"text": f"answer number {at}", "people": ("fail", "pass")[at % 2]}
            | {"topic": "law" if at < 20 else "sport"}
            for at, name in enumerate(NAMES)
        ]
        own_part.rated_table(
            "answers",
            rows,
            ratings={"good": ["people"]},
            aspects={"good": {"labels": ["fail", "pass"]}},
            meta=["topic"],
        )
        own_part.card("aspects", "good", name="Good", definition="Is it good?")
        own_part.card(
            "judges", "frozen", model="judge", form="verdict", draws=DRAWS,
            temperature=1, max_tokens=20,
        )  # fmt: skip
        own_part.connect(endpoint.url, "judge")
        file = own_part.write()
        plan = own_part.plan()
        ingest_all(texts.ingest(plan, "answers"), texts.read_ratings(plan, "answers"))
        number: dict[str, Any] = {"dataset": "answers", "judge": "frozen"}
        number |= {"aspect": "good"}
        number |= {"statistic": "tnr", "level": "pooled", "value": 1.0, "n": 12}
        own_part.table("results", "tables/labels", [number])
        anchored = AnchoredJudge(plan, "answers", "frozen", "good")
        anchored.asked(sorted(anchored.texts), DRAWS)
        yield Place(own_part, Path(file.name), judge)


def test_a_passport_binds_judge_anchors_and_numbers_without_a_request(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(study_folder.judge.asked)
    assert study_folder.passport() == 0 and len(study_folder.judge.asked) == before
    made = read(Path("judge.json"))
    assert len(made.anchors) == ANCHORS
    assert {len(anchor.draws) for anchor in made.anchors} == {DRAWS}
    right = [anchor.draws[0] == anchor.people for anchor in made.anchors]
    assert all(right) and not made.looks
    assert {"model", "prompt", "parser", "threshold"} <= made.identity.keys()
    [number] = made.numbers
    assert (number.statistic, number.value) == ("tnr", 1.0)
    assert "24 anchors, 6 draws each" in capsys.readouterr().out


def test_without_fresh_nothing_is_asked_and_reported_so(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    before = len(study_folder.judge.asked)
    assert study_folder.gate() == GateStatus.CANNOT_TELL
    assert len(study_folder.judge.asked) == before
    assert "no new draw of the anchors was asked" in capsys.readouterr().out


def test_each_fresh_look_asks_a_single_draw_of_each_anchor(study_folder: Place) -> None:
    study_folder.passport()
    for look in (1, 2):
        study_folder.judge.asked.clear()
        assert study_folder.gate(fresh=True) == GateStatus.SAME
        assert sorted(study_folder.judge.asked) == [*range(ANCHORS)]
        assert len(read(Path("judge.json")).looks) == look
    study_folder.judge.asked.clear()
    assert study_folder.gate() == GateStatus.SAME and not study_folder.judge.asked


def test_a_new_passport_asks_draws_that_no_earlier_look_had(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    study_folder.judge.lost = 9
    assert study_folder.gate(fresh=True) == GateStatus.MOVED
    study_folder.judge.lost = 0
    study_folder.passport(output=Path("new.json"))
    assert read(Path("new.json")).first_draw == DRAWS + 1
    study_folder.judge.asked.clear()
    capsys.readouterr()
    assert study_folder.gate(fresh=True, passport=Path("new.json")) == GateStatus.SAME
    assert len(study_folder.judge.asked) == ANCHORS
    assert f"requested now: {ANCHORS}" in capsys.readouterr().out


def test_a_look_whose_draw_is_stored_is_refused(study_folder: Place) -> None:
    study_folder.passport()
    file = Path("judge.json")
    before = file.read_bytes()
    study_folder.gate(fresh=True)
    file.write_bytes(before)  # the changed passport was not kept
    study_folder.judge.asked.clear()
    with pytest.raises(UserError, match="in the store already"):
        study_folder.gate(fresh=True)
    assert not study_folder.judge.asked and file.read_bytes() == before


def test_an_interrupted_look_is_finished_and_paid_once(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    file = Path("judge.json")
    before = json.loads(file.read_bytes())
    study_folder.gate(fresh=True)
    file.write_text(json.dumps(before | {"under_way": DRAWS}), encoding="utf-8")
    capsys.readouterr()
    study_folder.judge.asked.clear()
    assert (
        study_folder.gate(fresh=True) == GateStatus.SAME
        and not study_folder.judge.asked
    )
    assert "requested now: 0" in capsys.readouterr().out
    made = read(file)
    assert len(made.looks) == 1 and made.under_way is None


def test_a_judge_that_passes_what_it_failed_has_moved(
    study_folder: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    study_folder.judge.lost = 9
    summary = tmp_path / "summary.md"
    assert study_folder.gate(fresh=True, markdown=summary) == GateStatus.MOVED
    assert "The judge moved" in capsys.readouterr().out
    assert summary.read_text(encoding="utf-8").startswith("## Gate: moved\n")
    study_folder.judge.lost = 0  # it stays moved: what was alarmed is not forgotten
    assert study_folder.gate(fresh=True, json=True) == GateStatus.MOVED
    content = json.loads(capsys.readouterr().out)
    assert content["answer"] == "moved" and content["exit_code"] == 1
    assert [look["alarm"] for look in content["looks"]] == [True]
    assert content["requested"] == 0


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("study", "other", "another study"),
        ("version", "0.0.0", "another version"),
        ("identity", {"model": "x"}, "is another one"),
        ("schema", "x/1", "another kind"),
        ("judge", "nobody", "unknown judge"),
        ("anchors", 1, "no passport"),
    ],
)
def test_another_baseline_is_refused_before_anything_is_asked(
    study_folder: Place, key: str, value: Any, reason: str
) -> None:
    study_folder.passport()
    file = Path("judge.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content | {key: value}), encoding="utf-8")
    study_folder.judge.asked.clear()
    with pytest.raises(UserError, match=reason) as refused:
        study_folder.gate(fresh=True)
    way_out = "allowed: " if key == "judge" else "do: "
    assert way_out in str(refused.value)
    assert not study_folder.judge.asked


def test_a_changed_anchor_is_refused(study_folder: Place) -> None:
    study_folder.passport()
    file = Path("judge.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["anchors"][0]["text"] = "0" * 16
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=f"1 of {ANCHORS}"):
        study_folder.gate(fresh=True)


def test_the_declared_looks_are_a_limit(study_folder: Place) -> None:
    study_folder.passport(horizon=1)
    assert study_folder.gate(fresh=True) == GateStatus.SAME
    with pytest.raises(UserError, match="used up"):
        study_folder.gate(fresh=True)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"judge": "nobody"}, "unknown judge"),
        ({"dataset": "other"}, "--aspect|unknown dataset"),
        ({"horizon": 0}, "--looks"),
        ({"days": 0}, "--days"),
        ({"output": Path("judge.txt")}, "judge.txt"),
    ],
)
def test_a_passport_of_nothing_is_refused(
    study_folder: Place, keys: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        study_folder.passport(**keys)
    assert not Path("judge.json").exists()


def test_a_baseline_of_few_draws_is_refused(study_folder: Place) -> None:
    study_folder.study.amend("judges", "frozen", draws=4)
    with pytest.raises(UserError, match="too few draws"):
        study_folder.passport()


def test_a_decision_model_has_no_passport(study_folder: Place) -> None:
    study_folder.study.card(
        "models", "decider", engine="systemone", base_url="http://127.0.0.1:9/v1"
    )
    study_folder.study.card("judges", "frozen", model="decider", form="decide")
    with pytest.raises(UserError, match="sampled draws") as refused:
        study_folder.passport()
    assert "raise" not in str(refused.value)


def test_missing_replies_are_not_asked_for_a_passport(study_folder: Place) -> None:
    study_folder.study.amend("judges", "frozen", draws=DRAWS + 1)
    with pytest.raises(UserError, match="24 of 168 are missing"):
        study_folder.passport()


# --- systems --------------------------------------------------------------------------


def mean(value: float, system: str = "bot") -> PassportNumber:
    return PassportNumber(
        table="corrected", dataset="new", aspect="good", statistic="corrected_mean",
        level="by_source", system=system, value=value, ci_low=value - 0.1,
        ci_high=value + 0.1, n=60,
    )  # fmt: skip


def replace_aspect(number: PassportNumber) -> PassportNumber:
    return structs.replace(number, aspect="another")


def test_systems_moved_only_while_the_judge_did_not(study_folder: Place) -> None:
    study_folder.passport()
    study_folder.gate(fresh=True)
    made = read(Path("judge.json"))
    made.numbers = [mean(3.0), mean(4.0, "other")]
    now = [mean(3.5), mean(4.0, "other")]
    result = command.gate_findings(made, now, 0, date(2000, 1, 1))
    assert (
        result.status == GateStatus.MOVED
        and "The systems moved: bot." in result.sentence
    )
    others = [replace_aspect(number) for number in now]
    assert command.moved_systems(made.numbers, others, "good") == []
    p = [each.p_holm for each in result.systems]
    assert p[0] < 0.001 and p[1] == 1.0
    still = command.gate_findings(made, made.numbers, 0, date(2000, 1, 1))
    assert still.status == GateStatus.SAME
    made.looks[0].alarm = True
    both = command.gate_findings(made, now, 0, date(2000, 1, 1))
    assert "The judge moved" in both.sentence and "cannot be compared" in both.sentence


def test_an_expired_passport_tells_nothing(study_folder: Place) -> None:
    study_folder.passport()
    study_folder.gate(fresh=True)
    result = command.gate_findings(read(Path("judge.json")), [], 0, date(9000, 1, 1))
    assert result.status == GateStatus.CANNOT_TELL and "expired" in result.sentence


def test_an_expired_passport_asks_for_nothing(study_folder: Place) -> None:
    study_folder.passport()
    made = read(Path("judge.json"))
    made.expires = "2001-01-01"
    write(made, Path("judge.json"))
    before = len(study_folder.judge.asked)
    assert study_folder.gate(fresh=True) == GateStatus.CANNOT_TELL
    assert len(study_folder.judge.asked) == before


CHANGED: dict[str, tuple[Callable[[Passport], object], str]] = {
    "a word for a date": (lambda made: setattr(made, "expires", "never"), "no date"),
    "no anchors": (lambda made: made.anchors.clear(), "anchors are not those"),
    "ragged draws": (lambda made: made.anchors[0].draws.pop(), "anchors are not those"),
    "a taken alarm": (
        lambda made: setattr(made.looks[0], "alarm", True),
        "does not follow from its draws",
    ),
    "a look without a draw": (
        lambda made: made.looks[0].draws.clear(),
        "does not follow from its draws",
    ),
}


def test_a_changed_passport_is_refused(study_folder: Place) -> None:
    study_folder.passport()
    study_folder.gate(fresh=True)
    content = Path("judge.json").read_bytes()
    for change, message in CHANGED.values():
        made = read(Path("judge.json"))
        change(made)
        write(made, Path("judge.json"))
        with pytest.raises(UserError, match=message):
            read(Path("judge.json"))
        Path("judge.json").write_bytes(content)


def test_a_look_without_the_baselines_store_is_refused_before_asking(
    study_folder: Place,
) -> None:
    study_folder.passport()
    before = Path("judge.json").read_bytes()
    study_folder.study.write(store="elsewhere")
    study_folder.judge.asked.clear()
    with pytest.raises(UserError, match="lacks replies of the passport's baseline"):
        study_folder.gate(fresh=True)
    assert not study_folder.judge.asked and Path("judge.json").read_bytes() == before


def test_a_floor_must_hold_on_the_last_look(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    assert study_folder.gate(require=["accuracy=.8"]) == GateStatus.CANNOT_TELL
    assert study_folder.gate(fresh=True, require=["accuracy=.8"]) == GateStatus.SAME
    assert "all anchors: meets accuracy 0.8: 1.000" in capsys.readouterr().out
    study_folder.judge.asked.clear()
    result = study_folder.gate(require=["accuracy=.83", "tnr=.7"])
    assert result == GateStatus.SAME and not study_folder.judge.asked


def test_a_part_below_its_floor_fails(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge passes 8 of the 10 bad texts on law."""
    study_folder.passport()
    study_folder.judge.lost = 8
    words = {"require": ["accuracy=.82"], "slice": ["topic"]}
    with pytest.raises(UserError) as caught:
        study_folder.gate(fresh=True, **words)
    for part in ("too few anchors for a floor", "topic: sport", "of 4 sources", "19"):
        assert part in str(caught.value)
    assert not read(Path("judge.json")).looks
    assert study_folder.gate(fresh=True, require=["accuracy=.85"]) == GateStatus.MOVED
    assert "Below the floor on all anchors. The judge moved" in capsys.readouterr().out


def test_where_nothing_changed_nothing_is_asked_in_ten_seconds(
    study_folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    study_folder.passport()
    study_folder.gate(fresh=True)
    study_folder.judge.asked.clear()
    begun = process_time()
    assert study_folder.gate(require=["accuracy=.8"]) == GateStatus.SAME
    took = process_time() - begun
    assert not study_folder.judge.asked and took < 10
    assert "requested now: 0" in capsys.readouterr().out


def test_floors_hold_on_each_part_alone() -> None:
    """40 anchors on law of which half are right, 40 on sport that are all right."""
    people = np.ones(80)
    verdicts = [1.0, 0.0] * 20 + [1.0] * 40
    law = np.arange(80) < 40
    sources = [f"i{at}" for at in range(80)]
    baseline = SimpleNamespace(people=people)
    outcomes = {}
    for part, members in (("law", law), ("sport", ~law)):
        floor = Floor("accuracy", 0.8, part, members, sources)
        outcomes[part] = floor.outcome(verdicts, baseline).outcome  # type: ignore[arg-type]
    assert outcomes == {"law": Outcome.MISSES, "sport": Outcome.MEETS}


@pytest.mark.parametrize("text", ["tnr", "tnr=2", "kappa=.5", "tnr=x"])
def test_a_floor_that_is_none_is_refused(study_folder: Place, text: str) -> None:
    study_folder.passport()
    with pytest.raises(UserError, match="a floor is a share of right verdicts"):
        study_folder.gate(require=[text])


def test_parts_without_a_floor_or_a_column_are_refused(study_folder: Place) -> None:
    study_folder.passport()
    with pytest.raises(UserError, match="no floor that could hold"):
        study_folder.gate(slice=["topic"])
    with pytest.raises(UserError, match="no such column of parts"):
        study_folder.gate(require=["accuracy=.5"], slice=["topics"])
