"""Texts of known quality that a dataset brings: planned from cards alone, judged, and
told.
"""

import json
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import running
from asking import AskedStudy
from judgescope.core.errors import UserError
from judgescope.plan.loading import load_plan
from judgescope.plan.specs.results import tables_of
from judgescope.plan.study import Plan
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Endpoint, Said, prompt_of, reply, serve
from study import Study

ITEMS, COPIES, ERRORS = 12, 2, 5
"""Sources, texts of each rating, and errors of the last text in a row."""
FIVE, TWO = {"min": 1, "max": 5, "step": 1}, {"min": 0, "max": 1, "step": 1}
ASPECTS: dict[str, Any] = {"neatness": FIVE, "clearness": TWO | {"column": "Clearness"}}
WORDS = {"neatness": "oops", "clearness": "alas"}
COLUMNS = {"neatness": "neatness", "clearness": "Clearness"}
CARD: dict[str, Any] = {
    **{
        "name": "given",
        "task": "summarization",
        "format": "dualeval_json",
        "ratings": "none",
    },
    **{"files": {"global": "../../global.json", "local": "../../local.json"}},
    **{"aspects": ASPECTS, "licence": "none", "citation": "none"},
    "select": {"original": "none"},
}
_TEXTS = re.compile(r"(?:[A-Z][a-z]+ (?:to rate|[AB])):\n(.+?)\n\n", re.DOTALL)
_SCALE = re.compile(r"from (\d+) to (\d+)")


def source(item: int) -> str:
    """Return a source of its own."""
    return f"Village {item} wants a new bridge over its stream."


def text(item: int, version: int, word: str, errors: int) -> str:
    """Return a text with so many errors; not one is longer for having more of them."""
    words = [
        f"Bridge {item}",
        f"in year {version}",
        "is built",
        "of stone",
        "and good wood",
    ]
    collected = [
        f"{each} {word}" if at < errors else f"{each} then"
        for at, each in enumerate(words)
    ]
    return " ".join(collected) + "."


def rated_texts(aspect: str) -> list[dict[str, Any]]:
    """Return texts of every rating, whose number says more than their errors do."""
    scale, word = ASPECTS[aspect], WORDS[aspect]
    return [
        {
            "source": source(item),
            "target": text(
                item, 2000 + 10 * copy + rating, word, scale["max"] - rating
            ),
            "rating": rating,
            "errors": "whatever else there is",
        }
        for item in range(ITEMS)
        for rating in range(scale["min"], scale["max"] + 1)
        for copy in range(COPIES)
    ]


def rows_of_texts(aspect: str) -> dict[str, list[Any]]:
    """Return the chain of texts of each source, as strings or as objects."""
    by_key = {
        source(item): [
            text(item, 1900, WORDS[aspect], errors) for errors in range(ERRORS + 1)
        ]
        for item in range(ITEMS)
    }
    if aspect == "neatness":
        return dict(by_key)
    return {
        entry: [{"target": each, "error": "one"} for each in row]
        for entry, row in by_key.items()
    }


def write_files(folder: Path) -> None:
    """Write both files of the benchmark."""
    files = {"global": rated_texts, "local": rows_of_texts}
    for role, made in files.items():
        content = {column: made(aspect) for aspect, column in COLUMNS.items()}
        (folder / f"{role}.json").write_text(json.dumps(content), encoding="utf-8")


def say(body: Body) -> Said:
    """Count the stray words of the aspect that the prompt names: rate, or name the
    better text.
    """
    prompt = prompt_of(body)
    [word] = [WORDS[name] for name in WORDS if name in prompt.lower()]
    errors = [match.count(word) for match in _TEXTS.findall(prompt)]
    if len(errors) == 2:
        better = "tie" if errors[0] == errors[1] else "AB"[errors[0] > errors[1]]
        return reply(f"Choice: {better}")
    [(least, limit)] = _SCALE.findall(prompt)
    return reply(str(max(int(least), int(limit) - errors[0])))


def write_study(folder: Path, endpoint: Endpoint, **keys: Any) -> AskedStudy:
    """Write data, cards and study."""
    write_files(folder)
    study = AskedStudy(folder, endpoint)
    study.card("datasets", "bridges", **CARD)
    for name in ASPECTS:
        study.card(
            "aspects", name, name=name.title(), definition=f"Is there {name} in it?"
        )
    study.card("judges", "counter", model="loop", form="score-only")
    fine = {"min": 1, "max": 10, "step": 1}
    study.card("judges", "fine", model="loop", form="score-only", scale=fine)
    study.card("judges", "pairs", model="loop", form="compare")
    study.card("judges", "beside", model="loop", form="rubric", use_reference=True)
    fields: dict[str, Any] = {
        **{"study": "given", "seed": 4, "datasets": ["bridges"], "aspects": []},
        **{"judges": ["counter", "fine", "pairs", "beside", "oracle"]},
        "methods": ["perspectives"],
    }
    study.write(**fields | keys)
    return study


GLOBAL = {name: f"bridges-global-{name}" for name in ASPECTS}
LOCAL = {name: f"bridges-local-{name}" for name in ASPECTS}
RATINGS = {"neatness": 5, "clearness": 2}
Row = dict[str, Any]


def loaded(folder: Path, **keys: Any) -> Plan:
    """Return the plan of the study in a folder."""
    with chdir(folder):
        config = yaml.safe_load(Path("study.yaml").read_text(encoding="utf-8"))
        return load_plan(config | keys, HOME, source="study.yaml")


def planned(folder: Path, **keys: Any) -> Plan:
    """Return the plan of a study of whose data and endpoint there is nothing."""
    write_study(folder, Endpoint("http://127.0.0.1:9/v1", say), **keys)
    for role in ("global", "local"):
        (folder / f"{role}.json").unlink()
    return loaded(folder)


def test_a_study_has_the_sets_of_its_datasets_from_the_card_alone(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path)
    sets = [*sorted(GLOBAL.values()), *sorted(LOCAL.values())]
    assert plan.target_sets("bridges") == [f"{name}.single" for name in sets]
    assert [plan.kind_of(f"{name}.single") for name in sets] == ["graded"] * 2 + [
        "chain"
    ] * 2
    assert plan.improved("bridges") is None and plan.written("bridges") == []
    judged = {
        (cell.perturbation.partition(".")[0], cell.aspect) for cell in plan.cell_aspects
    }
    assert judged == {
        (own_part[name], name) for own_part in (GLOBAL, LOCAL) for name in ASPECTS
    }
    assert {
        cell.judge
        for cell in plan.cell_aspects
        if cell.perturbation.startswith("bridges-local")
    } == {*("counter", "fine", "pairs", "constant-top", "random", "length")}
    assert "construction" not in tables_of(plan)


def test_a_role_or_an_aspect_that_is_left_out_has_no_set(tmp_path: Path) -> None:
    plan = planned(tmp_path, aspects=["neatness"])
    sets = [f"{own_part['neatness']}.single" for own_part in (GLOBAL, LOCAL)]
    assert plan.target_sets("bridges") == sets
    Study(tmp_path).amend("datasets", "bridges", files={"local": "../../local.json"})
    assert loaded(tmp_path).target_sets("bridges") == sets[1:]


def test_an_id_is_never_too_long(tmp_path: Path) -> None:
    planned(tmp_path)
    name = "b" * 79
    Study(tmp_path).card("datasets", name, **CARD)
    sets = loaded(tmp_path, datasets=[name]).target_sets(name)
    assert len({*sets}) == 4 and all(len(each) == 80 + len(".single") for each in sets)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"perturbations": ["random-typos"]}, "there is nothing to perturb"),
        (
            {"methods": ["agreement"], "judges": ["length"]},
            "add the method perspectives",
        ),
        (
            {
                "datasets": ["bridges", "demo-news"],
                "perturbations": [GLOBAL["neatness"]],
            },
            "have the same id",
        ),
    ],
)
def test_what_such_a_study_cannot_have_is_stated(
    tmp_path: Path, keys: dict[str, Any], what: str
) -> None:
    renamed = {"perturbation": GLOBAL["neatness"]}
    Study(tmp_path).change("perturbations", "local-rule-fluency", **renamed)
    with pytest.raises(UserError) as caught:
        planned(tmp_path, **keys)
    assert what in str(caught.value)


def test_the_shipped_cards_can_be_planned(tmp_path: Path) -> None:
    config = {
        **{"study": "s", "methods": ["perspectives"], "judges": ["random"]},
        "datasets": ["dualeval-summeval", "dualeval-topical-chat"],
    }
    plan = load_plan(config, HOME, source="s.yaml")
    assert len(plan.target_sets("dualeval-summeval")) == 8
    assert len(plan.target_sets("dualeval-topical-chat")) == 10


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(say) as endpoint:
        own_part = write_study(tmp_path_factory.mktemp("given"), endpoint)
        done = own_part.judgescope("check")
        assert done.returncode == 0, done.stdout[-3000:]
        assert "requests to models: 864" in done.stdout and not endpoint.asked
        done = own_part.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield own_part


def rows_by_aspect(
    study: AskedStudy, table: str, statistic: str, **where: Any
) -> dict[tuple[str, str], Row]:
    """Return (judge, aspect) -> the row of a statistic, of single aspects."""
    return {
        (row["judge"], row["aspect"]): row
        for row in study.rows(table)
        if row["statistic"] == statistic and row["aspect"] in ASPECTS
        if all(row[name] == each for name, each in where.items())
    }


@pytest.mark.long(12)
@pytest.mark.slow
def test_targets_are_the_texts_of_the_files_with_places_and_ratings(
    study: AskedStudy,
) -> None:
    results = study.folder / "results" / "given"
    for name, count in RATINGS.items():
        file = f"bridges/{GLOBAL[name]}.single.parquet"
        texts = pq.read_table(results / "targets" / file).to_pylist()
        ratings = pq.read_table(results / "graded" / file).to_pylist()
        assert [text["target"] for text in texts] == [
            rating["target"] for rating in ratings
        ]
        assert len(texts) == ITEMS * COPIES * count
        assert {(text["step"], text["parent"], text["status"]) for text in texts} == {
            (0, None, "ok")
        }
        assert {(rating["errors"], rating["status"]) for rating in ratings} == {
            (None, "chosen")
        }
        assert texts[0]["target"] == f"bridges-001:{GLOBAL[name]}.single.1"
        row = pq.read_table(
            results / "targets" / "bridges" / f"{LOCAL[name]}.single.parquet"
        )
        first = row.to_pylist()[: ERRORS + 1]
        assert [each["step"] for each in first] == [*range(ERRORS + 1)]
        assert first[0]["target"] == f"bridges-001:{LOCAL[name]}.single.0"
    assert not (results / "report" / "texts.html").exists()


@pytest.mark.long(12)
@pytest.mark.slow
def test_a_judge_that_counts_errors_finds_every_rating_and_controls_do_not(
    study: AskedStudy,
) -> None:
    kappa = rows_by_aspect(study, "perspectives", "kappa_linear", level="global")
    for name, count in RATINGS.items():
        own_part = kappa["counter", name]
        assert (own_part["value"], own_part["n"]) == (
            1,
            ITEMS * COPIES * count,
        ) and own_part["ci_low"] < 1
        assert own_part["perturbation"] == GLOBAL[name]
        assert kappa["constant-top", name]["value"] == 0
        assert kappa["random", name]["ci_low"] < 0 < kappa["random", name]["ci_high"]
        assert kappa["length", name]["note"] == "continuous"
    counts = {
        (row["aspect"], row["k"], row["k_b"]): row["value"]
        for row in study.rows("perspectives")
        if (row["judge"], row["statistic"]) == ("counter", "class_count")
    }
    assert counts == {
        (name, k, k): ITEMS * COPIES
        for name, count in RATINGS.items()
        for k in range(1, count + 1)
    }


@pytest.mark.long(12)
@pytest.mark.slow
def test_a_judge_that_counts_errors_finds_the_order_and_controls_do_not(
    study: AskedStudy,
) -> None:
    strict = rows_by_aspect(study, "perspectives", "accuracy_adjacent", level="local")
    half = rows_by_aspect(
        study, "perspectives", "accuracy_adjacent_half", level="local"
    )
    for name in ASPECTS:
        own_part = strict["fine", name]
        assert (own_part["value"], own_part["n"]) == (
            1,
            ITEMS * ERRORS,
        )  # the reference is one of the row
        assert own_part["perturbation"] == LOCAL[name]
        for judge in ("constant-top", "length"):  # no text is longer than another
            assert (strict[judge, name]["value"], half[judge, name]["value"]) == (
                0,
                0.5,
            )
        assert abs(half["random", name]["value"] - 0.5) < 0.15
    # the scale that people have is too short for so many errors
    assert strict["counter", "neatness"]["value"] == 4 / ERRORS
    assert strict["counter", "clearness"]["value"] == 1 / ERRORS


@pytest.mark.long(12)
@pytest.mark.slow
def test_a_judge_that_compares_is_right_about_neighbours_with_the_reference(
    study: AskedStudy,
) -> None:
    compared = rows_by_aspect(study, "pairwise", "accuracy_comparison")
    assert {
        location: (row["value"], row["n"]) for location, row in compared.items()
    } == {("pairs", name): (1, ITEMS * ERRORS) for name in ASPECTS}
    assert {row["perturbation"] for row in compared.values()} == {*LOCAL.values()}


@pytest.mark.long(12)
@pytest.mark.slow
def test_nothing_is_asked_about_an_aspect_that_a_text_was_not_made_for(
    study: AskedStudy,
) -> None:
    words = {"neatness": "oops", "clearness": "alas"}
    for prompt in study.endpoint.prompts:
        [name] = [name for name in words if name in prompt.lower()]
        assert not any(word in prompt for other, word in words.items() if other != name)
    rated = sum(RATINGS.values()) * COPIES + 2 * (ERRORS + 1)
    assert len(study.endpoint.asked) == ITEMS * (2 * rated + 2 * 2 * ERRORS)


@pytest.mark.long(12)
@pytest.mark.slow
def test_whom_nothing_can_be_asked_is_not_applicable(study: AskedStudy) -> None:
    notes = {
        (row["judge"], row["note"])
        for row in study.rows("coverage")
        if row["statistic"] == "coverage" and row["value"] is None
    }
    assert all(note.startswith("not applicable: ") for _, note in notes)
    reasons = {
        "oracle": "how many errors",
        "beside": "no references",
        "pairs": "not ordered",
    }
    reasons |= dict.fromkeys(("most-frequent", "shuffled"), "needs ratings")
    assert len(notes) == len(reasons)
    assert all(reasons[judge] in note for judge, note in notes)
    page = text_of_pages(study.folder / "results" / "given" / "report")
    assert "Ratings that came with the texts: " in page


@pytest.mark.long(12)
@pytest.mark.slow
def test_an_export_names_the_aspect_of_each_text_and_people_may_judge_rows(
    study: AskedStudy,
) -> None:
    export = ("export", "study.yaml", "targets", "texts.jsonl")
    done = running.run("-m", "judgescope", *export, cwd=study.folder)
    assert done.returncode == 0, done.stdout[-3000:]
    lines = (study.folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    actual = {
        (row["perturbation"], aspect["aspect"])
        for row in map(json.loads, lines)
        for aspect in row["aspects"]
    }
    assert actual == {
        (own_part[name], name) for own_part in (GLOBAL, LOCAL) for name in ASPECTS
    }
    made = ("people", "recheck", "make", "study.yaml", "pages/", "--constructed")
    done = running.run("-m", "judgescope", *made, cwd=study.folder)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "2 pages with 400 questions" in done.stdout


@pytest.mark.slow
def test_items_that_a_study_does_not_select_have_no_texts(tmp_path: Path) -> None:
    own_part = write_study(
        tmp_path, Endpoint("http://127.0.0.1:9/v1", say), judges=["random"]
    )
    own_part.card(
        "datasets", "bridges", **CARD | {"select": {"n": 10, "original": "none"}}
    )
    done = own_part.snakemake("texts")
    assert done.returncode == 0, done.stdout[-3000:]
    folder = tmp_path / "results" / "given" / "targets" / "bridges"
    for name in (*GLOBAL.values(), *LOCAL.values()):
        items = pq.read_table(folder / f"{name}.single.parquet")["item"].to_pylist()
        assert len({*items}) == 10


@pytest.mark.slow
@pytest.mark.long(12)
def test_beside_a_dataset_that_is_perturbed_both_are_reported(tmp_path: Path) -> None:
    fields = {"datasets": ["demo-news", "bridges"], "aspects": ["fluency", "neatness"]}
    perturbation = {"perturbations": ["global-rule-fluency", "random-typos"]}
    methods = {"methods": ["agreement", "discernment", "perspectives"]}
    with serve(say) as endpoint:
        own_part = write_study(
            tmp_path, endpoint, judges=["rules"], **fields, **perturbation, **methods
        )
        done = own_part.run()
        assert done.returncode == 0, done.stdout[-3000:]
    rows = own_part.rows("construction")
    given = [row for row in rows if row["dataset"] == "bridges"]
    counts = [row["value"] for row in given if row["statistic"] == "class_count"]
    assert counts == [ITEMS * COPIES] * RATINGS["neatness"]
    errors = [row for row in given if row["statistic"] == "errors_mean"]
    assert errors and all(row["value"] is None for row in errors)
    assert any(row["dataset"] == "demo-news" for row in rows)
    assert (tmp_path / "results" / "given" / "report" / "texts.html").exists()
