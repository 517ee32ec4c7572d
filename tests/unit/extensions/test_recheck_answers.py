"""Answers of a recheck: agreement, intervals, faults of files, commands."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deleted import proportion
from judgescope.core.errors import UserError, UserErrors
from judgescope.extensions.people.form import page_id
from judgescope.extensions.people.known_quality import (
    NEW,
    ORIGINAL,
    RATED,
    ROW,
    Case,
    pair_of,
)
from judgescope.extensions.people.recheck import read, sources_of
from people_studies import (
    FLUENCY,
    ReevaluationStudy,
    numbers,
    text,
)
from people_tables import rows_of
from running import run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    return ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})


def test_agreement_is_counted_by_hand(study: ReevaluationStudy) -> None:
    """One voter always finds the better text; the other the better of original levels
    alone.
    """
    plan = study.plan()

    def second(pair: Case) -> str:
        if pair.group == ORIGINAL:
            return "better"
        return "same" if pair.aspect == "fluency" else "worse"

    says: list[Callable[[Case], str]] = [lambda _: "better", second]
    pages, _ = study.ask(plan)
    for page, say in zip(pages, says, strict=True):
        study.judge(plan, page, say)
    result = read(plan, study.out, study.folder / "answers")
    outcome = numbers(result)
    assert (result.responses, len(rows_of(result, "pairs.csv")), len(outcome)) == (
        2,
        16,
        3 * 2 * 2,
    )
    for aspect, n, same in (("", 16, 0.25), ("fluency", 8, 0.5), ("adequacy", 8, 0)):
        new = outcome[aspect, NEW, "reevaluation_agreement"]
        assert (new["value"], new["n"], new["n_missing"]) == (0.5, n, 0)
        assert outcome[aspect, ORIGINAL, "reevaluation_agreement"]["value"] == 1
        assert outcome[aspect, NEW, "reevaluation_no_difference"]["value"] == same
    pair = rows_of(result, "pairs.csv")[0]
    assert (pair["aspect"], pair["group"], pair["better"], pair["worse"]) == (
        *("adequacy", NEW, "t02", "t00"),
    )
    assert [pair[name] for name in ("level_better", "level_worse")] == [4 / 3, 1]
    assert [pair[name] for name in ("for_better", "for_worse", "no_difference")] == [
        1,
        1,
        0,
    ]


@pytest.mark.heavy
def test_an_interval_is_over_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(
        tmp_path, {"fluency": [(1 + n % 2,) * 3 for n in range(80)]}
    )
    plan = study.plan()
    [page], [_, draw] = study.ask(plan, pairs=30, voters=1)
    assert len(draw.pairs) == 30
    better = set(draw.pairs[:24])
    study.judge(plan, page, lambda pair: "better" if pair in better else "worse")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", ORIGINAL, "reevaluation_agreement"
    ]
    assert row["value"] == 0.8
    lo, hi = proportion(
        [1] * 24 + [0] * 6, [1] * 30
    )  # 24 of 30 sources, of one pair each
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(lo), pytest.approx(hi))
    assert "over 30 sources" in row["method"]
    assert (
        numbers(read(plan, study.out, study.folder / "answers"))[
            "", ORIGINAL, row["statistic"]
        ]
        == row
    )


def test_a_pair_counts_to_the_source_that_more_pairs_have() -> None:
    texts = [
        text(name, *places) for name, *places in [("a", 1, 1), ("z", 2, 2), ("m", 2, 2)]
    ]
    words = text("x", 3, 3, item="z")
    pairs = [
        pair_of(*two)
        for two in [(texts[0], texts[1]), (texts[0], texts[2]), (words, texts[1])]
    ]
    assert sources_of([pair for pair in pairs if pair]) == ["z", "a", "z"]


@pytest.mark.heavy
def test_whoever_did_not_answer_is_missing(study: ReevaluationStudy) -> None:
    plan = study.plan()
    pages, _ = study.ask(plan, voters=3)
    for page in pages[:2]:
        path = study.judge(plan, page, lambda _: "better")
    result = numbers(read(plan, study.out, study.folder / "answers"))
    row = result["", NEW, "reevaluation_agreement"]
    assert (row["value"], row["n"], row["n_missing"]) == (1, 16, 8)
    # a page is for one person: sent again, it counts once
    content = json.loads(path.read_text("utf-8"))
    for name in ("more", "and-more"):
        path.with_name(f"{name}.json").write_text(
            json.dumps(content | {"voter": name}), "utf-8"
        )
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert (row["n"], row["n_missing"]) == (16, 8)
    study.judge(plan, pages[2], lambda _: "better")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert (row["n"], row["n_missing"]) == (24, 0)
    # another round: 2 more voters for some of the pairs, one of whom answers
    for path in (study.folder / "answers").glob("*.json"):
        path.rename(path.with_name(f"first-{path.name}"))
    pages, _ = study.ask(plan, pairs=2, voters=2)
    study.judge(plan, pages[0], lambda _: "better")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert row["n"] - 24 == row["n_missing"] > 0


def test_rated_texts_and_rows_are_read_together(study: ReevaluationStudy) -> None:
    plan = study.plan()
    for kind in (RATED, ROW):
        [page], _ = study.ask(plan, kind, voters=1)
        study.save(page.task, page.id, kind, {item.id: "A" for item in page.items})
    result = read(plan, study.out, study.folder / "answers")
    groups = {
        row["group"]: row["value"]
        for row in rows_of(result, "reevaluation.csv")
        if row["aspect"] == "fluency"
    }
    assert set(groups) == {NEW, ORIGINAL, ROW}
    row = numbers(result)["", ROW, "reevaluation_agreement"]
    assert row["n"] == 22 and 0 < row["value"] < 1
    assert [line.partition(":")[0] for line in result.lines] == [
        f"news, {group}" for group in (NEW, ORIGINAL, ROW)
    ]


def test_the_order_of_files_does_not_matter(study: ReevaluationStudy) -> None:
    plan = study.plan()
    pages, _ = study.ask(plan)
    paths = [study.judge(plan, page, lambda _: "better") for page in pages]
    result = read(plan, study.out, study.folder / "answers")
    for at, path in enumerate(reversed(paths)):
        path.rename(path.with_name(f"{at}.json"))
    paths[0].with_name("copy.json").write_bytes(
        paths[0].with_name("1.json").read_bytes()
    )
    assert read(plan, study.out, study.folder / "answers") == result
    for path in result.write(study.out):
        assert path.read_text("utf-8").startswith("dataset,aspect,")


def test_all_faults_are_reported_at_once_each_with_its_file(
    study: ReevaluationStudy,
) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    path = study.judge(plan, page, lambda _: "better")
    good = json.loads(path.read_text("utf-8"))
    ids = list(good["answers"])

    def bad(name: str, **parts: Any) -> None:
        path.with_name(f"{name}.json").write_text(json.dumps(good | parts), "utf-8")

    def other(name: str, question: str) -> None:
        answers = {question: "A"}
        bad(name, survey=page_id(answers, "1"), answers=answers)

    each, two = ids[0][1:].split("-")
    bad("less", voter="l", answers={each: good["answers"][each] for each in ids[1:]})
    bad("option", voter="o", answers={**good["answers"], ids[0]: "D"})
    bad("voters", voter="v", survey=f"9{good['survey']}")
    bad("none", voter="n", survey="")
    bad("empty", voter="e", survey=page_id([], "1"), answers={})
    bad("nobody", voter="z", survey=page_id(ids, "0"))
    bad("mind", answers=dict.fromkeys(ids, "C"))
    other("foreign", "q0-1")
    other("itself", f"q{each}-{each}")
    other("single", f"q{each}")
    other("three", f"q{each}-{two}-{each}")
    other("unnamed", f"x{each}-{two}")
    with pytest.raises(UserErrors) as errors:
        read(plan, study.out, path.parent)
    by_stem = {
        Path(error.where.partition(",")[0]).stem: error.what
        for error in errors.value.errors
    }
    words = {
        **dict.fromkeys(
            ["less", "voters", "none", "nobody", "empty"], "do not match the questions"
        ),
        "option": "is not an option",
        **dict.fromkeys(
            ["foreign", "itself", "single", "three", "unnamed"],
            "does not ask these questions",
        ),
        path.stem: "conflicting responses",
    }
    assert by_stem.keys() == words.keys()
    assert all(words[name] in what for name, what in by_stem.items())
    assert all(error.todo for error in errors.value.errors)


@pytest.mark.parametrize("change", ["seed", "text", "rating"])
def test_answers_to_what_the_study_no_longer_asks_are_reported(
    change: str, study: ReevaluationStudy
) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    path = study.judge(plan, page, lambda _: "better")
    ratings = {"fluency": FLUENCY, "adequacy": FLUENCY}
    if change == "seed":
        plan = study.plan(seed=8)
    elif change == "text":
        study.write_texts(ratings, " More.")
    else:
        study.write_texts({name: each[::-1] for name, each in ratings.items()})
    with pytest.raises(UserErrors, match="does not ask these questions") as errors:
        read(plan, study.out, path.parent)
    assert "does not ask these questions" in str(errors.value)


def test_answers_without_the_study_s_tables_are_reported(
    study: ReevaluationStudy,
) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    study.judge(plan, page, lambda _: "better")
    (study.out / "items" / "news.parquet").unlink()
    with pytest.raises(UserError, match="files with texts of the study are missing"):
        read(plan, study.out, study.folder / "answers")


@pytest.mark.heavy
def test_the_commands(study: ReevaluationStudy) -> None:
    command = ("-m", "judgescope", "people", "recheck")
    made = run(
        *command, "make", str(study.write()), "pages", "--pairs", "4", cwd=study.folder
    )
    assert made.returncode == 0 and "2 pages with 32 questions" in made.stdout, (
        made.stdout
    )
    assert "there are" not in made.stdout
    written = {path: path.read_bytes() for path in (study.folder / "pages").iterdir()}
    fewer = ("pages", "--voters", "1")
    other = run(*command, "make", str(study.write()), *fewer, cwd=study.folder)
    assert other.returncode == 1 and "this folder has other pages" in other.stdout
    assert written == {
        path: path.read_bytes() for path in (study.folder / "pages").iterdir()
    }
    other = run(
        *command, "make", str(study.write()), *fewer, "--force", cwd=study.folder
    )
    assert other.returncode == 0 and "pages: 1 page with" in other.stdout
    made = run(
        *command, "make", str(study.write()), "pages", "--force", cwd=study.folder
    )
    assert "news, adequacy, new-level: only 4 of 50 pairs available" in made.stdout
    rows = run(
        *command, "make", str(study.write()), "rows", "--constructed", cwd=study.folder
    )
    assert "rows: 2 pages with 44 questions" in rows.stdout
    assert "news, row: only 22 of 100 pairs available" in rows.stdout
    (study.folder / "answers").mkdir(exist_ok=True)
    nothing = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert nothing.returncode == 1 and "no answers found" in nothing.stdout
    plan = study.plan()
    for page in study.ask(plan)[0]:
        study.judge(
            plan, page, lambda pair: "better" if pair.group == ORIGINAL else "same"
        )
    done = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert done.returncode == 0 and "2 files of answers, about 16 pairs" in done.stdout
    text = "agreement 0.000, n = 16; no difference 1.000"
    assert f"news, new-level: {text}" in done.stdout, done.stdout
    assert (study.out / "reevaluation" / "reevaluation.csv").is_file()
