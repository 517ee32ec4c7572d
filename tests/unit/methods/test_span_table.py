"""The table of errors that judges list, of one small dataset by hand."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from judgescope.methods.claims import spans
from judgescope.methods.claims.base import LOST
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.methods.spans import (
    FORMS,
    MarkedError,
    Prediction,
    rows,
    words_of,
)
from judgescope.parsing.annotation import CONTRADICTIONS, COUNTED
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import SCHEMAS, table_of, write_table
from judgescope.statistics.result import REASONS
from judgescope.statistics.spans import DECLARED, TextSpan
from judgescope.statistics.verdict import verdicts
from statistics_spec import change, spec_of

Row = dict[str, Any]
ANNOTATED = {each.name for each in DECLARED if each.name.startswith("span_")} - {
    "span_ok"
}
TEXTS = {
    "a": "The Hawks won 37 to 20 .",
    "b": "They play Denver on Friday .",
    "c": "All is well .",
    "d": "Nobody was there .",
    "e": "",
}
GOLD = [
    ("a", 4, 9, "NAME"),
    ("a", 14, 22, "NUMBER"),
    ("b", 10, 16, "NOT_CHECKABLE"),
    ("d", 0, 6, "NAME"),
]


def error(
    start: int | None,
    end: int | None,
    quoted: str | None,
    match: str,
    severity: float | None = None,
    category: str | None = None,
) -> Row:
    return {
        **{"start": start, "end": end, "location": quoted, "match": match},
        **{"severity": severity, "category": category, "explanation": "so"},
    }


HAWKS = error(4, 9, "Hawks", "exact", 4, "name")
SCORE = error(10, 16, "Won  37", "normalised", 2, "Word")
INVENTED = error(None, None, "never said this", "not_found")
OMITTED = error(None, None, None, "not_found", 1)
WELL = error(7, 11, "wel", "fuzzy", 5, "NAME")


def judgment(target: str, *spans: Row, **more: Any) -> Row:
    return {
        **{
            "dataset": "d",
            "perturbation": "systems",
            "judge": "j",
            "aspect": "true",
            "draw": 0,
        },
        **{"target": target, "status": "ok", "rule": "labelled.labelled", "value": 3.0},
        **{"spans": list(spans), **more},
    }


JUDGED = [
    judgment("a", HAWKS, SCORE, INVENTED, OMITTED, rule="json.labelled+dropped+unread"),
    judgment("b", rule="labelled.labelled+less_without_errors"),
    judgment("c", WELL),
    judgment("d", HAWKS, status="unparsed", value=None),
    judgment("e", status="not_applicable", value=None, spans=None),
]


def study(
    folder: Path,
    judged: list[Row],
    gold: bool = True,
    copies: int = 1,
    share: float = 1.0,
) -> EvaluationData:
    """Return a study of the texts, so many times over."""

    def repeated(rows: list[Row], *names: str) -> list[Row]:
        return [
            {**row, **{name: f"{row[name]}{copy}" for name in names}}
            for row in rows
            for copy in range(copies)
        ]

    write_table(
        "marked",
        table_of("marked", repeated(judged, "target")),
        folder / "marked.parquet",
    )
    names = ("target", "start", "end", "category")
    spans = [
        {"dataset": "d", **dict(zip(names, each, strict=True)), "text": ""}
        for each in GOLD
    ]
    table = table_of("gold_spans", repeated(spans, "target"))
    write_table("gold_spans", table, folder / "gold.parquet")
    targets = [
        {
            "dataset": "d",
            "target": name,
            "item": name,
            "perturbation": "systems",
            "text": text,
        }
        for name, text in TEXTS.items()
    ]
    items = [{"dataset": "d", "item": name} for name in TEXTS]
    empty = {name: SCHEMAS[name].empty_table() for name in ("ratings", "draws")}
    fields = {
        "dataset": "d",
        "seed": 1,
        "judges": {"j": {"share": share, "engine": "openai"}},
    }
    fields |= {"marked": str(folder / "marked.parquet")}
    fields |= {"gold": str(folder / "gold.parquet") if gold else None}
    return EvaluationData(
        spec=spec_of(fields),
        data_sha="0",
        items=table_of("items", repeated(items, "item")),
        targets=table_of("targets", repeated(targets, "target", "item")),
        scores=ScoreTables.of_table(SCHEMAS["scores"].empty_table()),
        statuses=SCHEMAS["statuses"].empty_table(),
        **empty,
    )


@pytest.fixture
def numbers(tmp_path: Path) -> dict[tuple[str, str, str], Row]:
    return keyed(rows(study(tmp_path, JUDGED)))


def keyed(rows: Iterable[ResultRow]) -> dict[tuple[str, str, str], Row]:
    """Return (statistic, form, level) -> row."""
    return {
        (row["statistic"], row.get("form") or "", row["level"]): dict(row)
        for row in rows
    }


def of(numbers: dict[tuple[str, str, str], Row], form: str, level: str) -> list[float]:
    names = ("span_precision", "span_recall", "span_f1")
    return [numbers[name, form, level]["value"] for name in names]


@pytest.mark.parametrize(
    ("statistic", "value", "n", "missing"),
    [
        ("span_errors", 5 / 3, 3, 1),  # 4, 0 and 1; the fourth reply has no verdict
        ("span_clean", 1 / 3, 3, 1),
        ("span_severity", (4 + 2 + 1 + 5) / 4, 4, 1),  # an error has none
        ("span_placeless", 1 / 5, 5, 1),
        ("span_match_rate", 3 / 4, 4, 1),
        ("span_match_exact", 1 / 4, 4, 1),
        ("span_match_normalised", 1 / 4, 4, 1),
        ("span_match_fuzzy", 1 / 4, 4, 1),
        ("span_dropped", 1 / 3, 3, 1),
        ("span_unread", 1 / 3, 3, 1),
        ("span_superseded", 0, 3, 1),
        ("span_less_without_errors", 1 / 3, 3, 1),
        ("span_errors_beside_none", 0, 3, 1),
        ("span_best_with_severe", 0, 3, 1),
        ("span_other_verdicts", 0, 3, 1),
    ],
)
def test_what_is_listed_by_hand(
    numbers: dict[tuple[str, str, str], Row],
    statistic: str,
    value: float,
    n: int,
    missing: int,
) -> None:
    row = numbers[statistic, "", ""]
    assert row["value"] == pytest.approx(value)
    assert (row["n"], row["n_missing"], row["perturbation"]) == (n, missing, "systems")
    assert row["ci_low"] is None and "no interval" in row["note"]


def test_what_people_marked_by_hand(numbers: dict[tuple[str, str, str], Row]) -> None:
    # spans: Hawks alone is right, of 4 (one not found) and 3; its kind is spelt
    # otherwise
    assert of(numbers, "exact", "pooled") == pytest.approx([1 / 4, 1 / 3, 2 / 7])
    assert of(numbers, "exact_category", "pooled") == pytest.approx(
        [1 / 4, 1 / 3, 2 / 7]
    )
    # words: Hawks and 37, of Hawks won 37, three not found, and well; of Hawks 37 to
    # 20, Denver
    assert of(numbers, "tokens", "pooled") == pytest.approx([2 / 7, 2 / 5, 4 / 12])
    # 37 is a number to people, and a word to the judge
    assert of(numbers, "tokens_category", "pooled") == pytest.approx(
        [1 / 7, 1 / 5, 2 / 12]
    )
    # pairs: Hawks in full, and a third of "won 37", a quarter of "37 to 20"
    assert of(numbers, "partial", "pooled") == pytest.approx([1 / 3, 5 / 12, 10 / 27])
    assert of(numbers, "partial_category", "pooled") == pytest.approx(
        [1 / 4, 1 / 3, 2 / 7]
    )
    # texts: precision of a and c, recall of a and b, F1 of all three
    assert of(numbers, "exact", "by_text") == pytest.approx([1 / 6, 1 / 4, 2 / 15])
    precision = numbers["span_precision", "exact", "by_text"]
    assert (precision["n"], precision["n_missing"]) == (2, 2)
    pooled = numbers["span_precision", "tokens", "pooled"]
    assert (pooled["n"], pooled["n_missing"]) == (7, 1)
    assert "count as wrong: 1" in pooled["note"]
    assert "excluded: 1" in pooled["note"]


def test_every_statistic_of_the_list_exists_and_no_other(
    numbers: dict[tuple[str, str, str], Row],
) -> None:
    assert {name for name, _, _ in numbers} == ANNOTATED
    assert {f"span_{name}" for name in (*COUNTED, *CONTRADICTIONS)} < ANNOTATED
    assert {form for _, form, _ in numbers} == {"", *FORMS}
    assert {level for _, form, level in numbers if form} == {"pooled", "by_text"}


def test_every_draw_is_a_separate_annotation(tmp_path: Path) -> None:
    each, other = judgment("a", HAWKS), judgment("a", WELL, SCORE, draw=1)
    by_key = keyed(rows(study(tmp_path, [each, other])))
    assert by_key["span_errors", "", ""]["value"] == 1.5
    assert by_key["span_errors", "", ""]["n"] == 2
    # 1 of 3 predicted, and people's 2 spans were to be found twice
    assert of(by_key, "exact", "pooled") == pytest.approx([1 / 3, 1 / 4, 2 / 7])


def test_without_people_s_marks_nothing_is_compared(tmp_path: Path) -> None:
    by_key = keyed(rows(study(tmp_path, JUDGED, gold=False)))
    assert {name for name, _, _ in by_key} == ANNOTATED - {
        *("span_precision", "span_recall", "span_f1")
    }


def test_only_texts_of_systems_are_compared(tmp_path: Path) -> None:
    perturbed = [{**row, "perturbation": "typos.minor"} for row in JUDGED]
    result = list(rows(study(tmp_path, perturbed)))
    assert {(row["perturbation"], row["degree"]) for row in result} == {
        ("typos", "minor")
    }
    assert not any(row.get("form") for row in result)


def test_a_judge_that_names_no_kinds_is_not_compared_by_them(tmp_path: Path) -> None:
    bare = [judgment("a", {**HAWKS, "category": None}), judgment("b")]
    by_key = keyed(rows(study(tmp_path, bare)))
    assert of(by_key, "exact", "pooled") == pytest.approx([1, 1 / 3, 1 / 2])
    for level in ("pooled", "by_text"):
        assert of(by_key, "tokens_category", level) == [None] * 3
        assert (
            by_key["span_f1", "exact_category", level]["note"] == REASONS.no_categories
        )
    # one that lists nothing misses what people marked, of whatever kind
    clean = keyed(rows(study(tmp_path, [judgment("a"), judgment("b")])))
    assert of(clean, "exact_category", "pooled") == [None, 0, 0]


def test_no_parsed_reply_means_no_number(tmp_path: Path) -> None:
    by_key = keyed(rows(study(tmp_path, [judgment("a", HAWKS, status="unparsed")])))
    assert {row["value"] for row in by_key.values()} == {None}
    assert by_key["span_match_rate", "", ""]["note"] == REASONS.nothing
    missing = {name: row["n_missing"] for (name, _, _), row in by_key.items()}
    assert missing.pop("span_severity") == 0  # it counts errors
    assert set(missing.values()) == {1}


def test_intervals_are_over_sources(tmp_path: Path) -> None:
    by_key = keyed(rows(study(tmp_path, JUDGED[:3], copies=8)))
    for statistic in ("span_match_rate", "span_errors"):
        row = by_key[statistic, "", ""]
        assert (
            row["ci_low"] < row["value"] < row["ci_high"] and "sources" in row["method"]
        )
    row = by_key["span_f1", "tokens", "pooled"]
    assert (
        row["value"] == pytest.approx(4 / 12)
        and row["ci_low"] < row["value"] < row["ci_high"]
    )


def test_a_judge_of_a_share_of_the_items_says_so(tmp_path: Path) -> None:
    result = list(rows(study(tmp_path, JUDGED[:1], share=0.4)))
    assert all(
        "computed on a share of the items: 2 of 5" in row["note"] for row in result
    )


def test_what_is_not_detected_is_wrong_in_every_form() -> None:
    listed = [HAWKS, INVENTED, error(None, None, "…", "not_found"), OMITTED]
    from_errors = Prediction.from_errors(convert(listed, list[MarkedError]))
    tokens, gold = words_of(TEXTS["a"]), [TextSpan(4, 9, "name")]
    assert from_errors.counts(gold, tokens, "exact") == (1, 3, 1)
    assert from_errors.counts(gold, tokens, "tokens_category") == (1, 1 + 3 + 1, 1)
    assert from_errors.unquoted == 1


def test_an_ensemble_without_a_list_of_a_text_says_so(tmp_path: Path) -> None:
    judged = [
        judgment("a", HAWKS, rule="mean of members; errors merged by rule+dropped"),
        judgment("b", rule="mean of members; no member lists an error"),
        judgment(
            "c",
            spans=None,
            rule="mean of members; no errors: supervisor truncated, cut",
        ),
        judgment(
            "d", spans=None, status="unparsed", rule="too few members with a score"
        ),
    ]
    data = study(tmp_path, judged)
    change(data.spec, "j", engine="derived")
    by_key = keyed(rows(data))
    by_name = {
        name: (row["value"], row["n"], row["n_missing"])
        for (name, *_), row in by_key.items()
    }
    assert by_name["span_errors"] == (0.5, 2, 2) and by_name["span_clean"] == (
        0.5,
        2,
        2,
    )
    assert by_name["span_dropped"] == (0.5, 2, 2)
    assert by_key["span_recall", "exact", "pooled"]["n_missing"] == 2
    # its list comes with no verdict that it could contradict
    assert "span_best_with_severe" not in by_name and "span_superseded" in by_name


def test_an_ensemble_whose_supervisor_never_could_be_read_has_rows(
    tmp_path: Path,
) -> None:
    data = study(tmp_path, [judgment(name, spans=None) for name in "abcd"])
    change(data.spec, "j", engine="derived")
    by_key = keyed(rows(data))
    row = by_key["span_errors", "", ""]
    assert (row["value"], row["n_missing"]) == (None, 4) and row["note"]


@pytest.mark.parametrize(
    ("right", "lost", "wanted"),
    [
        (30, 0, ("better", ())),
        (30, 4, ("better", ())),
        (24, 4, ("better", ())),
        (20, 4, ("not_shown", (LOST,))),
        (30, 8, ("no_claim", ("too_many_lost",))),
        (0, 0, ("not_shown", ("chance",))),
    ],
)
def test_marks_beyond_chance_must_hold_with_lost_replies_at_the_worst_end(
    tmp_path: Path, right: int, lost: int, wanted: tuple[str, tuple[str, ...]]
) -> None:
    """Of 30 copies of a text the first lose their reply; so many of the others are
    marked right.
    """
    data = study(tmp_path, [], copies=30)
    judged = []
    for copy in range(30):
        marked = HAWKS if copy >= 30 - right else error(0, 3, "The", "exact")
        fields: Row = {"status": "unparsed", "spans": None} if copy < lost else {}
        judged.append({**judgment("a", marked), "target": f"a{copy}", **fields})
    write_table("marked", table_of("marked", judged), tmp_path / "marked.parquet")
    [claim] = spans.span_claims(data)
    [verdict] = verdicts([claim.evidence])
    outcome = claim.outcome or verdict.outcome
    assert (str(outcome), claim.reasons if claim.outcome else verdict.reasons) == wanted
