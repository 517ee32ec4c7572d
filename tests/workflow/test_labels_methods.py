"""All methods on labels, in one study: what applies is computed, what does not says
why.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from asking import DEMO, AskedStudy
from data_samples import jsonl
from judgescope.schema.tables import read_table
from report_setup import text_of_pages
from scripted import Body, Said, prompt_of, replies, serve
from study import shipped

pytestmark = [pytest.mark.slow, pytest.mark.long(22)]
ITEMS = 16
KINDS = ["advice", "question", "story"]
VERDICTS = ["fail", "pass"]
METHODS = [
    "agreement",
    "confusion",
    "discernment",
    "ensemble",
    "perspectives",
    "robustness",
]
MEMBERS = ["first", "second", "third"]
HINTED = (
    '{% include "verdict-task.jinja" %}\n\nAn expert says {{ hint }}. '
    "Answer with the label alone, {{ scale.choices }}.\n"
)
Row = dict[str, Any]


def texts() -> dict[str, Row]:
    """Return text -> its item with source and reference, its system, words and true
    labels.
    """
    lines = (DEMO / "dialogue_items.jsonl").read_text("utf-8").splitlines()
    items = {row["item"]: row for row in map(json.loads, lines)}
    result = {}
    for line in (DEMO / "dialogue_outputs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if int(row["item"][1:]) <= ITEMS:
            item = items[row["item"]]
            result[row["response"]] = {
                **{"item": row["item"], "system": row["system"]},
                **{"source": item["context"], "reference": item["reference"]},
                "words": f"{row['response']} {item['reference']}".split(),
                "fluency": VERDICTS[row["naturalness"] >= 4],
                "coherence": VERDICTS[row["coherence"] >= 3],
                "kind": KINDS[crc32(row["response"].encode()) % 3],
            }
    return result


def write_data(study: AskedStudy) -> dict[str, Row]:
    """Write the texts with two raters, who differ on every ninth text, and the
    dataset's card.
    """
    known = texts()
    rows = []
    for at, (text, row) in enumerate(known.items()):
        fields = {**row, "text": text}
        for name, labels in (
            ("fluency", VERDICTS),
            ("coherence", VERDICTS),
            ("kind", KINDS),
        ):
            other = labels[(labels.index(row[name]) + (at % 9 == 0)) % len(labels)]
            fields |= {f"{name}_1": row[name].upper(), f"{name}_2": other}
        rows.append(fields)
    jsonl(study.folder / "texts.jsonl", rows)
    study.card(
        *("datasets", "answers"),
        **{
            "name": "Answers",
            "task": "dialogue",
            "format": "table",
            "files": "../../texts.jsonl",
        },
        columns={
            **{"item": "item", "source": "source", "references": "reference"},
            **{"system": "system", "text": "text"},
            "ratings": {
                name: [f"{name}_1", f"{name}_2"]
                for name in ("fluency", "coherence", "kind")
            },
        },
        aspects={
            "fluency": {"labels": VERDICTS},
            "coherence": {"labels": VERDICTS},
            "kind": {"labels": KINDS, "ordered": False},
        },
        **{"licence": "none", "citation": "none"},
    )
    study.card("aspects", "kind", name="Kind", definition="What the answer is.")
    return known


def label(known: dict[str, Row], model: str, aspect: str, text: str) -> str:
    """Return what a model says of a text; each is wrong on a fifth of them, by itself.

    Of texts that are not the systems', those with words that no other text has are not
    fluent.
    """
    strange = bool(
        {*text.split()} - {word for row in known.values() for word in row["words"]}
    )
    other = {"fluency": VERDICTS[not strange], "coherence": "pass", "kind": "advice"}
    labels = KINDS if aspect == "kind" else VERDICTS
    right = labels.index(known.get(text, other)[aspect])
    return labels[
        (right + (crc32(f"{model} {aspect} {text}".encode()) % 5 == 0)) % len(labels)
    ]


def second_draw(text: str, given: str, labels: list[str]) -> str:
    """Return the label of a draw that differs on a third of the texts."""
    return labels[(labels.index(given) + (crc32(text.encode()) % 3 == 0)) % len(labels)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    known: dict[str, Row] = {}

    def reply_to(body: Body) -> Said:
        prompt, model = prompt_of(body), body["model"]
        [text] = re.findall(
            r"[A-Z][a-z]+ to (?:judge|rate):\n(.*?)(?:\n\n|$)", prompt, re.DOTALL
        )
        aspect = re.findall("quality of (?:a|the) text: (\\w+)", prompt)[0].lower()
        given = label(known, model, aspect, text)
        if "An expert says" in prompt:
            return replies(re.findall(r"An expert says (\w+)", prompt)[0])
        if "Rubric:" in prompt:
            return replies(f"So so.\nRating: {5 if given == 'pass' else 2}")
        if model != "first":
            return replies(f"It is clear.\n\nVerdict: {given}")
        other = second_draw(text, given, KINDS if aspect == "kind" else VERDICTS)
        return replies(given, given.title(), other)

    with serve(reply_to) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("whole"), endpoint)
        known |= write_data(study)
        for model in MEMBERS:
            study.card(
                "models", model, engine="openai", base_url=endpoint.url, probe=False
            )
        study.change(
            "judges", "verdict", judge="first", model="first", draws=3, temperature=1
        )
        for name in MEMBERS[1:]:
            study.change("judges", "reason-verdict", judge=name, model=name)
        study.change(
            "judges", "rubric-verdict", model="third", aspects=["fluency", "coherence"]
        )
        (study.folder / "config/prompts").mkdir()
        (study.folder / "config/prompts/hinted.jinja").write_text(HINTED, "utf-8")
        study.card(
            *("judges", "told"),
            **{"model": "second", "form": "hinted", "hint": {"baseline": "second"}},
            aspects=["fluency", "coherence"],
        )
        study.card("judges", "panel", members=MEMBERS)
        chain = shipped(
            "perturbations", "local-rule-fluency", tasks=["dialogue"], steps=3
        )
        study.card(
            "perturbations",
            "chained",
            **{k: v for k, v in chain.items() if k != "perturbation"},
        )
        study.card(
            *("expectations", "mine"),
            name="mine",
            perturbations={
                "random-typos": {"drop": ["fluency"], "same": ["coherence"]}
            },
        )
        study.write(
            study="whole",
            datasets=["answers"],
            judges=[*MEMBERS, "rubric-verdict", "told", "panel"],
            methods=METHODS,
            aspects=["fluency", "coherence", "kind"],
            perturbations=["random-typos", "chained", "claimed-verdict"],
            confusion={"expectations": "mine"},
        )
        run = study.run()
        assert not run.returncode, run.stdout[-6000:]
        yield study


def of(study: AskedStudy, table: str, **where: Any) -> list[Row]:
    """Return the rows with these values."""
    return [
        row
        for row in study.rows(table)
        if all(row[name] == value for name, value in where.items())
    ]


def row_of(
    study: AskedStudy, table: str, judge: str, statistic: str, **where: Any
) -> Row:
    [row] = of(study, table, judge=judge, statistic=statistic, **where)
    return row


def fluent(known: dict[str, Row], text: str) -> int:
    """Return the place of the label of fluency that most members give."""
    given = [label(known, model, "fluency", text) for model in MEMBERS]
    return VERDICTS.index(max(VERDICTS, key=given.count))


def set_of(study: AskedStudy, name: str) -> dict[str, str]:
    """Return item -> text of a set."""
    path = study.out / f"targets/answers/{name}.parquet"
    return {row["item"]: row["text"] for row in read_table("targets", path).to_pylist()}


def test_what_compares_values_has_ordered_labels_and_leaves_others_out(
    study: AskedStudy,
) -> None:
    for table in ("confusion", "discernment", "perspectives", "robustness"):
        aspects = {row["aspect"] for row in study.rows(table)}
        assert {"fluency", "coherence"} <= aspects and "kind" not in aspects
    page = text_of_pages(study.out / "report")
    why = (
        "Left out of confusion, discernment, perspectives, robustness: kind, whose "
        "labels have"
    )
    assert why in page
    [path] = study.out.glob("replies/answers/first/random-typos.major/first.parquet")
    # nobody pays for what no method reads
    assert {*read_table("answers", path)["aspect"].to_pylist()} == {
        "fluency",
        "coherence",
    }


def test_perturbed_texts_lose_their_label(study: AskedStudy) -> None:
    known, before = texts(), set_of(study, "original")
    after = set_of(study, "random-typos.major")
    drop = np.mean(
        [fluent(known, before[it]) - fluent(known, text) for it, text in after.items()]
    )
    assert drop > 0.5
    where = {"perturbation": "random-typos", "degree": "major", "aspect": "fluency"}
    assert row_of(study, "discernment", "panel", "mean_drop", **where)["value"] == drop
    assert row_of(study, "confusion", "panel", "delta", **where)["value"] == drop
    index = row_of(study, "confusion", "panel", "confusion_index")
    assert (
        index["value"] < 0.5
        and row_of(study, "confusion", "panel", "confusion_auc")["value"] == 1
    )


def test_ratings_orders_and_hints_are_of_labels(study: AskedStudy) -> None:
    known = texts()
    where = {"aspect": "fluency", "level": "direct"}
    agreed = [text for at, text in enumerate(known) if at % 9]
    gold = np.array([VERDICTS.index(known[text]["fluency"]) for text in agreed])
    given = np.array([fluent(known, text) for text in agreed])
    kappa = row_of(study, "perspectives", "panel", "kappa_linear", **where)
    assert kappa["value"] == pytest.approx(cohen_kappa_score(gold, given))
    chain = {"aspect": "fluency", "level": "local", "perturbation": "chained"}
    assert (
        row_of(study, "perspectives", "first", "accuracy_adjacent_half", **chain)["n"]
        == 3 * ITEMS
    )
    assert (
        row_of(study, "robustness", "told", "follow_rate", aspect="fluency")["value"]
        == 1
    )
    base = row_of(study, "robustness", "told", "hint_baseline_rate", aspect="fluency")[
        "value"
    ]
    assert 0 < base < 0.5
    obeyed = of(
        study, "robustness", judge="panel", statistic="obey_rate", aspect="fluency"
    )
    assert {row["value"] for row in obeyed} == {0} and min(
        row["n"] for row in obeyed
    ) > 0


def test_draws_and_ensembles_have_majorities(study: AskedStudy) -> None:
    known = texts()
    for aspect in ("fluency", "kind"):
        flips = row_of(study, "repeatability", "first", "flip_rate", aspect=aspect)[
            "value"
        ]
        assert flips == np.mean([crc32(text.encode()) % 3 == 0 for text in known])
        reliability = row_of(
            study, "repeatability", "first", "reliability", aspect=aspect
        )
        assert (reliability["value"], reliability["note"]) == (
            None,
            "draws of labels have a majority, not a mean",
        )
        assert (
            row_of(study, "repeatability", "first", "alpha_draws", aspect=aspect)[
                "value"
            ]
            > 0
        )
    where = {"judge_b": "first+second+third", "aspect": "fluency"}
    row = row_of(study, "ensemble", "panel", "label_accuracy", **where)
    alone = row_of(study, "labels", "panel", "label_accuracy", aspect="fluency")
    truth = [
        VERDICTS.index(known[text]["fluency"]) for text in known
    ]  # or the lower of two
    lower = [min(t, 1 - t) if at % 9 == 0 else t for at, t in enumerate(truth)]
    wanted = np.mean(
        [fluent(known, text) == t for text, t in zip(known, lower, strict=True)]
    )
    assert row["value"] == alone["value"] == pytest.approx(wanted)
    pair = row_of(
        study,
        "ensemble",
        "panel",
        "label_accuracy",
        judge_b="first+second",
        aspect="kind",
    )
    assert pair["n_tied"] > 0
    assert "Balanced accuracy with people" in text_of_pages(study.out / "report")


def test_points_of_a_rubric_are_labels_by_the_bar(study: AskedStudy) -> None:
    """Its model says the same as the judge that names labels."""
    for statistic in ("tnr", "tpr"):
        rubric, third = (
            row_of(study, "labels", judge, statistic, aspect="fluency")
            for judge in ("rubric-verdict", "third")
        )
        assert rubric["value"] == third["value"]
        assert "threshold 4" in rubric["note"]


def test_members_of_two_kinds_are_refused(study: AskedStudy) -> None:
    study.card("judges", "panel", members=["first", "rubric-verdict"])
    refused = study.judgescope("check")
    study.card("judges", "panel", members=MEMBERS)
    assert refused.returncode
    assert "some members give labels, others numbers" in refused.stdout
    assert "labels by first; numbers by rubric-verdict" in refused.stdout
