"""Rounds of ratings: draws, pages, answers, looks, and what does not fit them."""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.extensions.people.form import page_id
from judgescope.extensions.people.next_texts import next_texts
from judgescope.extensions.people.rounds import RatedRounds, opened
from judgescope.plan.specs.results import statistics
from judgescope.schema.tables import table_of, write_table
from people_studies import SYSTEMS, RatingsStudy

ITEMS = 60
JUDGE = "rouge-l"


def quality(item: str, system: str | None) -> int:
    """Return what people think of a text: gamma is a point better."""
    rng = stream(1, item, system or "")
    return int(np.clip(rng.integers(2, 4) + (system == "gamma"), 1, 5))


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RatingsStudy:
    monkeypatch.chdir(tmp_path)
    study = RatingsStudy(tmp_path, ITEMS)
    study.keys = {**study.keys, "judges": [JUDGE]}
    scored(study)
    return study


def scored(study: RatingsStudy, items: int = ITEMS, kinder: int = 0) -> None:
    """Write the scores of a judge: a point too kind, to alpha two, or more."""
    files = statistics(study.plan(), "corrected", "news").files
    rows = []
    for n in range(items):
        for system in SYSTEMS:
            value = quality(f"n{n:02}", system) + 1 + (system == "alpha") + kinder
            row = {"dataset": "news", "perturbation": "systems", "judge": JUDGE}
            row |= {"aspect": "fluency", "target": f"n{n:02}:{system}"}
            rows.append({**row, "value": float(value), "n_draws": 1, "n_missing": 0})
    write_table("scores", table_of("scores", rows), files.scores)
    for name, path in (
        ("ratings", files.ratings),
        ("draws", files.draws),
        ("statuses", files.statuses),
    ):
        write_table(name, table_of(name, []), path)
    counts = {"sha256": {}, "items": 0, "targets": 0, "originals": 0, "ratings": 0}
    Path(files.ingested).write_text(json.dumps(counts), encoding="utf-8")


def rounds_of(study: RatingsStudy, **options: Any) -> RatedRounds:
    fields: dict[str, Any] = {"aspect": "fluency"}
    return opened(study.plan(), study.out, study.folder / "rounds", **fields | options)


def answer(study: RatingsStudy, rounds: RatedRounds, number: int) -> None:
    """Answer the pages of a round as `quality` says."""
    known = study.ratings(study.plan())
    [page] = (study.folder / "rounds" / f"pages-{number}").glob("*.html")
    ids = [name for name in known if name in page.read_text("utf-8")]
    given = {}
    for name in ids:
        subject = known[name].subject
        given[name] = str(quality(subject.item, subject.system))
    study.save("summarization", page_id(ids, "1of1"), f"v{number}", given)
    folder = study.folder / "rounds" / "answers"
    folder.mkdir(exist_ok=True)
    shutil.copy(study.folder / "answers" / f"summarization-v{number}.json", folder)


def test_a_round_is_drawn_rated_and_corrects_the_judge(study: RatingsStudy) -> None:
    rounds = rounds_of(study, looks=2)
    lines = rounds.draw_next(30)
    assert "equal chances" in lines[0] and "sources drawn" in lines[1]
    [stored] = rounds.draws
    assert set(stored["chances"].values()) == {0.5} and stored["planned"] == 30
    pages = study.folder / "rounds" / "pages-1" / "summarization-voter1.html"
    html = pages.read_text("utf-8")
    known = study.ratings(study.plan())
    asked = {each.subject.item for name, each in known.items() if name in html}
    assert asked == set(stored["drawn"])
    assert all(each.aspect == "fluency" for n, each in known.items() if n in html)
    answer(study, rounds, 1)
    looked = rounds_of(study).look()
    assert looked.number == 1
    by_key = {line.name: line for line in looked.lines}
    truth = np.mean([quality(f"n{n:02}", "alpha") for n in range(ITEMS)])
    mean = by_key["alpha"].corrected
    assert by_key["alpha"].judge_alone == pytest.approx(truth + 2)
    # Its texts have two ratings, which the judge meets: people alone.
    assert "judge not used: it errs on fewer than 10" in mean.note
    assert mean.ci_low is not None and mean.ci_high is not None
    assert mean.ci_low < truth < mean.ci_high
    gap = by_key["alpha − gamma"].corrected
    assert gap.ci_high is not None and gap.ci_high < 0
    assert "level 1 − .05/2" in gap.method
    assert [line.name for line in looked.lines][:3] == [
        "alpha − beta",
        "alpha − gamma",
        "beta − gamma",
    ]


def test_a_second_round_asks_only_what_is_not_rated(study: RatingsStudy) -> None:
    rounds = rounds_of(study, looks=2)
    rounds.draw_next(30)
    answer(study, rounds, 1)
    again = rounds_of(study)
    lines = again.draw_next(30)
    assert "a draw by predicted errors" in lines[0] or "expected to save" in lines[0]
    first, second = again.draws
    assert first["drawn"] != second["drawn"]
    html = (study.folder / "rounds/pages-2/summarization-voter1.html").read_text(
        "utf-8"
    )
    known = study.ratings(study.plan())
    asked = {each.subject.item for name, each in known.items() if name in html}
    assert asked == set(second["drawn"]) - set(first["drawn"])


def test_the_same_study_draws_the_same_sources(study: RatingsStudy) -> None:
    drawn = []
    for _ in range(2):
        rounds_of(study).draw_next(20)
        drawn.append(rounds_of(study).draws)
        shutil.rmtree(study.folder / "rounds")
    assert drawn[0] == drawn[1]


def test_looks_are_those_that_were_declared(study: RatingsStudy) -> None:
    rounds = rounds_of(study)
    rounds.draw_next(20)
    answer(study, rounds, 1)
    assert rounds_of(study).look().number == 1
    assert rounds_of(study).look().number == 1  # at the same answers
    again = rounds_of(study)
    again.draw_next(20)
    with pytest.raises(UserError, match="all declared looks are used"):
        rounds_of(study).look()


def test_a_look_at_other_scores_is_another_look(study: RatingsStudy) -> None:
    rounds = rounds_of(study)
    rounds.draw_next(20)
    answer(study, rounds, 1)
    rounds_of(study).look()
    scored(study, kinder=1)
    with pytest.raises(UserError, match="all declared looks are used"):
        rounds_of(study).look()


def test_a_look_without_an_interval_uses_up_none(
    study: RatingsStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = rounds_of(study)
    rounds.draw_next(20)
    assert rounds.look().number is None
    assert not (study.folder / "rounds" / "look-1.json").exists()
    args = argparse.Namespace(
        study=study.write(), folder=Path("rounds"), n=None, dataset=None, judge=None,
        aspect="fluency", looks=None, voters=None,
    )  # fmt: skip
    assert next_texts(args) == 0
    assert "none of 1 declared looks is used" in capsys.readouterr().out
    answer(study, rounds, 1)
    assert rounds_of(study).look().number == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"looks": 3}, "looks was declared"),
        ({"aspect": "adequacy"}, "aspect was declared"),
        ({"voters": 2}, "voters was declared"),
    ],
)
def test_what_was_declared_does_not_change(
    study: RatingsStudy, options: dict[str, Any], message: str
) -> None:
    rounds_of(study).draw_next(20)
    with pytest.raises(UserError, match=message):
        rounds_of(study, **options)


def test_other_sources_than_those_of_the_draw_are_an_error(study: RatingsStudy) -> None:
    rounds_of(study).draw_next(20)
    scored(study, ITEMS - 1)
    with pytest.raises(UserError, match="not those of the first draw"):
        rounds_of(study)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aspect": "adequacy"}, "no scores of this aspect"),
        ({"aspect": None}, "name one"),
        ({"aspect": "fluenzy"}, "no such aspect"),
        ({"judge": "rouge-ll"}, "no such judge"),
        ({"looks": 0}, "must be 1 or greater"),
    ],
)
def test_options_that_fit_no_study(
    study: RatingsStudy, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        rounds_of(study, **options)


@pytest.mark.parametrize("n", [0, ITEMS + 1])
def test_so_many_sources_cannot_be_drawn(study: RatingsStudy, n: int) -> None:
    with pytest.raises(UserError, match="cannot be drawn"):
        rounds_of(study).draw_next(n)


def test_nothing_is_looked_at_before_a_draw(study: RatingsStudy) -> None:
    with pytest.raises(UserError, match="no sources have been drawn"):
        rounds_of(study).look()


def test_a_study_that_has_not_run_has_no_scores(study: RatingsStudy) -> None:
    Path(statistics(study.plan(), "corrected", "news").files.scores).unlink()
    with pytest.raises(UserError, match="with scores of the study are missing"):
        rounds_of(study)


def test_the_command_draws_and_looks(
    study: RatingsStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    args = argparse.Namespace(
        study=study.write(), folder=Path("rounds"), n=25, dataset=None, judge=None,
        aspect="fluency", looks=None, voters=None,
    )  # fmt: skip
    assert next_texts(args) == 0
    assert "round 1:" in capsys.readouterr().out
    answer(study, rounds_of(study), 1)
    args.n = None
    assert next_texts(args) == 0
    printed = capsys.readouterr().out
    assert "look 1 of 1 declared" in printed and "judge alone (uncorrected)" in printed
    assert (study.folder / "rounds" / "look-1.json").is_file()


def test_controls_are_not_corrected(study: RatingsStudy) -> None:
    study.keys = {**study.keys, "judges": ["length"]}
    with pytest.raises(UserError, match="no judge"):
        rounds_of(study)
