"""The commands `passport` and `gate`: looks at a scripted judge that may drift."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from judgescope.cli import gate as command
from judgescope.cli.anchors import AnchoredJudge
from judgescope.cli.gate import GateStatus, gate
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
        found = re.search(r"answer number (\d+)", text_in(prompt_of(body)))
        assert found
        number = int(found[1])
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
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    judge = Judge()
    with serve(judge.says) as endpoint:
        own = Study(
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
            for at, name in enumerate(NAMES)
        ]
        own.rated_table(
            "answers",
            rows,
            ratings={"good": ["people"]},
            aspects={"good": {"labels": ["fail", "pass"]}},
        )
        own.card("aspects", "good", name="Good", definition="Is it good?")
        own.card(
            "judges", "frozen", model="judge", form="verdict", draws=DRAWS,
            temperature=1, max_tokens=20,
        )  # fmt: skip
        own.connect(endpoint.url, "judge")
        file = own.write()
        plan = own.plan()
        ingest_all(texts.ingest(plan, "answers"), texts.read_ratings(plan, "answers"))
        number: dict[str, Any] = {"dataset": "answers", "judge": "frozen"}
        number |= {"aspect": "good"}
        number |= {"statistic": "tnr", "level": "pooled", "value": 1.0, "n": 12}
        own.table("results", "tables/labels", [number])
        anchored = AnchoredJudge(plan, "answers", "frozen", "good")
        anchored.asked(sorted(anchored.texts), DRAWS)
        yield Place(own, Path(file.name), judge)


def test_a_passport_binds_judge_anchors_and_numbers_without_a_request(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(place.judge.asked)
    assert place.passport() == 0 and len(place.judge.asked) == before
    made = read(Path("judge.json"))
    assert len(made.anchors) == ANCHORS
    assert {len(anchor.draws) for anchor in made.anchors} == {DRAWS}
    right = [anchor.draws[0] == anchor.people for anchor in made.anchors]
    assert all(right) and not made.looks
    assert {"model", "prompt", "parser", "threshold"} <= made.identity.keys()
    [number] = made.numbers
    assert (number.statistic, number.value) == ("tnr", 1.0)
    assert "24 anchors, 6 draws each" in capsys.readouterr().out


def test_without_fresh_nothing_is_asked_and_said_so(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.passport()
    before = len(place.judge.asked)
    assert place.gate() == GateStatus.CANNOT_TELL
    assert len(place.judge.asked) == before
    assert "no new draw of the anchors was asked" in capsys.readouterr().out


def test_each_fresh_look_asks_one_draw_of_each_anchor(place: Place) -> None:
    place.passport()
    for look in (1, 2):
        place.judge.asked.clear()
        assert place.gate(fresh=True) == GateStatus.SAME
        assert sorted(place.judge.asked) == [*range(ANCHORS)]
        assert len(read(Path("judge.json")).looks) == look
    place.judge.asked.clear()
    assert place.gate() == GateStatus.SAME and not place.judge.asked


def test_a_new_passport_asks_draws_that_no_earlier_look_had(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.passport()
    place.judge.lost = 9
    assert place.gate(fresh=True) == GateStatus.MOVED
    place.judge.lost = 0
    place.passport(output=Path("new.json"))
    assert read(Path("new.json")).first_draw == DRAWS + 1
    place.judge.asked.clear()
    capsys.readouterr()
    assert place.gate(fresh=True, passport=Path("new.json")) == GateStatus.SAME
    assert len(place.judge.asked) == ANCHORS
    assert f"requested now: {ANCHORS}" in capsys.readouterr().out


def test_a_look_whose_draw_is_stored_is_refused(place: Place) -> None:
    place.passport()
    file = Path("judge.json")
    before = file.read_bytes()
    place.gate(fresh=True)
    file.write_bytes(before)  # the changed passport was not kept
    place.judge.asked.clear()
    with pytest.raises(UserError, match="in the store already"):
        place.gate(fresh=True)
    assert not place.judge.asked and file.read_bytes() == before


def test_an_interrupted_look_is_finished_and_paid_once(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.passport()
    file = Path("judge.json")
    before = json.loads(file.read_bytes())
    place.gate(fresh=True)
    file.write_text(json.dumps(before | {"under_way": DRAWS}), encoding="utf-8")
    capsys.readouterr()
    place.judge.asked.clear()
    assert place.gate(fresh=True) == GateStatus.SAME and not place.judge.asked
    assert "requested now: 0" in capsys.readouterr().out
    made = read(file)
    assert len(made.looks) == 1 and made.under_way is None


def test_a_judge_that_passes_what_it_failed_has_moved(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.passport()
    place.judge.lost = 9
    summary = tmp_path / "summary.md"
    assert place.gate(fresh=True, markdown=summary) == GateStatus.MOVED
    assert "The judge moved" in capsys.readouterr().out
    assert summary.read_text(encoding="utf-8").startswith("## Gate: moved\n")
    place.judge.lost = 0  # it stays moved: what was alarmed is not forgotten
    assert place.gate(fresh=True, json=True) == GateStatus.MOVED
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == "moved" and found["exit_code"] == 1
    assert [look["alarm"] for look in found["looks"]] == [True]
    assert found["requested"] == 0


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
    place: Place, key: str, value: Any, reason: str
) -> None:
    place.passport()
    file = Path("judge.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content | {key: value}), encoding="utf-8")
    place.judge.asked.clear()
    with pytest.raises(UserError, match=reason):
        place.gate(fresh=True)
    assert not place.judge.asked


def test_a_changed_anchor_is_refused(place: Place) -> None:
    place.passport()
    file = Path("judge.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["anchors"][0]["text"] = "0" * 16
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=f"1 of {ANCHORS}"):
        place.gate(fresh=True)


def test_the_declared_looks_are_a_limit(place: Place) -> None:
    place.passport(horizon=1)
    assert place.gate(fresh=True) == GateStatus.SAME
    with pytest.raises(UserError, match="used up"):
        place.gate(fresh=True)


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
    place: Place, keys: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        place.passport(**keys)
    assert not Path("judge.json").exists()


def test_a_baseline_of_few_draws_is_refused(place: Place) -> None:
    place.study.amend("judges", "frozen", draws=4)
    with pytest.raises(UserError, match="too few draws"):
        place.passport()


def test_a_decision_model_has_no_passport(place: Place) -> None:
    place.study.card(
        "models", "decider", engine="systemone", base_url="http://127.0.0.1:9/v1"
    )
    place.study.card("judges", "frozen", model="decider", form="decide")
    with pytest.raises(UserError, match="sampled draws") as refused:
        place.passport()
    assert "raise" not in str(refused.value)


def test_missing_replies_are_not_asked_for_a_passport(place: Place) -> None:
    place.study.amend("judges", "frozen", draws=DRAWS + 1)
    with pytest.raises(UserError, match="24 of 168 are missing"):
        place.passport()


# --- systems --------------------------------------------------------------------------


def mean(value: float, system: str = "bot") -> PassportNumber:
    return PassportNumber(
        table="corrected", dataset="new", aspect="good", statistic="corrected_mean",
        level="by_source", system=system, value=value, ci_low=value - 0.1,
        ci_high=value + 0.1, n=60,
    )  # fmt: skip


def replace_aspect(number: PassportNumber) -> PassportNumber:
    return structs.replace(number, aspect="another")


def test_systems_moved_only_while_the_judge_did_not(place: Place) -> None:
    place.passport()
    place.gate(fresh=True)
    made = read(Path("judge.json"))
    made.numbers = [mean(3.0), mean(4.0, "other")]
    now = [mean(3.5), mean(4.0, "other")]
    found = command.gate_findings(made, now, 0, date(2000, 1, 1))
    assert (
        found.status == GateStatus.MOVED and "The systems moved: bot." in found.sentence
    )
    others = [replace_aspect(number) for number in now]
    assert command.moved_systems(made.numbers, others, "good") == []
    p = [each.p_holm for each in found.systems]
    assert p[0] < 0.001 and p[1] == 1.0
    still = command.gate_findings(made, made.numbers, 0, date(2000, 1, 1))
    assert still.status == GateStatus.SAME
    made.looks[0].alarm = True
    both = command.gate_findings(made, now, 0, date(2000, 1, 1))
    assert "The judge moved" in both.sentence and "cannot be compared" in both.sentence


def test_an_expired_passport_tells_nothing(place: Place) -> None:
    place.passport()
    place.gate(fresh=True)
    found = command.gate_findings(read(Path("judge.json")), [], 0, date(9000, 1, 1))
    assert found.status == GateStatus.CANNOT_TELL and "expired" in found.sentence


def test_an_expired_passport_asks_for_nothing(place: Place) -> None:
    place.passport()
    made = read(Path("judge.json"))
    made.expires = "2001-01-01"
    write(made, Path("judge.json"))
    before = len(place.judge.asked)
    assert place.gate(fresh=True) == GateStatus.CANNOT_TELL
    assert len(place.judge.asked) == before


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


def test_a_changed_passport_is_refused(place: Place) -> None:
    place.passport()
    place.gate(fresh=True)
    whole = Path("judge.json").read_bytes()
    for change, message in CHANGED.values():
        made = read(Path("judge.json"))
        change(made)
        write(made, Path("judge.json"))
        with pytest.raises(UserError, match=message):
            read(Path("judge.json"))
        Path("judge.json").write_bytes(whole)


def test_a_look_without_the_baselines_store_is_refused_before_asking(
    place: Place,
) -> None:
    place.passport()
    before = Path("judge.json").read_bytes()
    place.study.write(store="elsewhere")
    place.judge.asked.clear()
    with pytest.raises(UserError, match="lacks replies of the passport's baseline"):
        place.gate(fresh=True)
    assert not place.judge.asked and Path("judge.json").read_bytes() == before
