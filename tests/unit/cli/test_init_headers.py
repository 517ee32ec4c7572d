"""`judgescope init`: what the headers of real-looking tables are taken for."""

from typing import Any, Final

import pytest

from judgescope.cli.init.guess import guess
from judgescope.cli.init.text_columns import doubtful_texts
from judgescope.core.paths import HOME
from judgescope.schema.loading import Cards

RATING, OTHER, SHARE, TEXT = "rating", "other rating", "share", "text"
CELLS: Final[dict[str, list[Any]]] = {
    RATING: [1, 3, 5, 2, 4, 3],
    OTHER: [2, 3, 5, 1, 4, 4],
    SHARE: [0.12, 0.31, 0.55, 0.2, 0.41, 0.93],
    TEXT: [
        f"The mill at Orrin burnt down on day {at}, and nobody was hurt."
        for at in range(6)
    ],
    "id": ["d1", "d2", "d3", "d4", "d5", "d6"],
    "name": ["one", "two", "one", "two", "one", "two"],
}
ROLES: Final = {
    # header -> role, kind of its cells
    "Doc ID": ("item", "id"),
    "document-id": ("item", "id"),
    "articleId": ("item", "id"),
    "Example Key": ("item", "id"),
    "Sample UUID": ("item", "id"),
    "Article": ("source", TEXT),
    "Source Document": ("source", TEXT),
    "article_text": ("source", TEXT),
    "User Prompt": ("source", TEXT),
    "Dialogue Context": ("source", TEXT),
    "Customer question": ("source", TEXT),
    "Summary": ("text", TEXT),
    "Generated Summary": ("text", TEXT),
    "model_output": ("text", TEXT),
    "LLM response": ("text", TEXT),
    "system.output": ("text", TEXT),
    "Candidate": ("text", TEXT),
    "Assistant reply (final)": ("text", TEXT),
    "Gold Summary": ("references", TEXT),
    "ref_summary": ("references", TEXT),
    "reference_text": ("references", TEXT),
    "highlights": ("references", TEXT),
    "Ground Truth Answer": ("references", TEXT),
    "expected_output": ("references", TEXT),
    "Correct answer": ("references", TEXT),
    "System Name": ("system", "name"),
    "model_id": ("system", "name"),
    "Generator": ("system", "name"),
    "MODEL": ("system", "name"),
}
UNUSED: Final = {
    "worker_id": "id",
    "Annotator name": "name",
    "Coherence std": RATING,
    "fluency_sd": SHARE,
    "Relevance (std. dev.)": RATING,
    "variance of ratings": SHARE,
    "Standard deviation": SHARE,
    "n_raters": RATING,
    "num annotators": RATING,
    "Time (seconds)": RATING,
    "token count": RATING,
    "Batch": RATING,
    "reviewer comments": TEXT,
    "Target language": "name",
    "Reference notes": TEXT,
    "Correct?": "name",
    "Unnamed: 0": RATING,
}
JUDGES: Final = {
    # header -> judge, aspect
    "gpt-4o score": ("gpt-4o-score", "*"),
    "GPT4 coherence": ("gpt4", "coherence"),
    "coherence_gpt4": ("gpt-4", "coherence"),
    "Coherence (Claude)": ("claude", "coherence"),
    "claude.3.5.sonnet": ("claude-3-5-sonnet", "*"),
    "score by Gemini": ("score-by-gemini", "*"),
    "LLM-judge coherence": ("llm-judge", "coherence"),
    "my_metric": ("my_metric", "*"),
    "ROUGE-L F1": ("rouge-l-f1", "*"),
    "rouge1": ("rouge1", "*"),
    "BERTScore": ("bertscore", "*"),
    "BLEU-4": ("bleu-4", "*"),
    "chrF++": ("chrf", "*"),
    "G-Eval coherence": ("g-eval", "coherence"),
    "MoverScore": ("moverscore", "*"),
    "pred_score": ("pred_score", "*"),
}
GROUPS: Final[dict[str, dict[str, list[str]]]] = {
    "brackets": {"coherence": ["Coherence (Anna)", "Coherence (Ben)"]},
    "square brackets": {"fluency": ["Fluency [A1]", "Fluency [A2]"]},
    "bare raters": {"overall": ["Rater 1 (Anna)", "Rater 2 (Ben)"]},
    "dashes": {
        "coherence": ["Coherence - Rater 1 (Anna)", "Coherence - Rater 2 (Ben)"]
    },
    "dots": {"fluency": ["fluency.expert.1", "fluency.expert.2"]},
    "camel case": {"fluency": ["rater1Fluency", "rater2Fluency"]},
    "letters": {"relevance": ["Annotator A relevance", "Annotator B relevance"]},
    "suffixed names": {"coherence": ["coherence_anna", "coherence_ben"]},
    "prefixed names": {
        "coherence": ["anna_coherence", "ben_coherence"],
        "fluency": ["anna_fluency", "ben_fluency"],
    },
    "by": {"fluency": ["fluency by Anna", "fluency by Ben"]},
    "rated by": {"overall": ["rated by Anna", "rated by Ben"]},
    "owners": {"relevance": ["Anna's relevance score", "Ben\u2019s relevance score"]},
    "numbers": {"overall": ["rating_1", "rating_2", "rating_3"]},
    "reviewers": {"overall": ["Reviewer 1", "Reviewer 2"]},
    "human scores": {"overall": ["human_score_1", "human_score_2"]},
    "verdicts": {"overall": ["human verdict"]},
    "scale in the name": {"fluency": ["Fluency (1-5)"]},
    "two aspects": {
        "factual-consistency": ["factual_consistency"],
        "logical": ["logical"],
    },
    "two kinds": {
        "factual-consistency": ["factual_consistency"],
        "logical-consistency": ["logical_consistency"],
    },
    "unknown aspects": {"pace": ["Pace (Anna)", "Pace (Ben)"], "plot": ["Plot (Anna)"]},
}
ASPECTS: Final = Cards([HOME / "config"]).names("aspect")


def rows_of(**columns: str) -> list[dict[str, Any]]:
    """Return six rows; columns: header -> kind of cells."""
    return [
        {name: CELLS[kind][at] for name, kind in columns.items()} for at in range(6)
    ]


@pytest.mark.parametrize("header", ROLES)
def test_a_header_says_the_role(header: str) -> None:
    role, cells = ROLES[header]
    rest = {} if role == "text" else {"summary" if role != "source" else "output": TEXT}
    result = guess(
        rows_of(**rest, **{header: cells, "fluency": RATING}), aspects=ASPECTS
    )
    assert result.columns_of(role) == [header]
    assert result.ratings == {"fluency": ["fluency"]} and not result.judges


@pytest.mark.parametrize("header", UNUSED)
def test_a_header_says_that_a_column_is_neither_text_nor_rating(header: str) -> None:
    rows = rows_of(
        Article=TEXT, Summary=TEXT, fluency=OTHER, **{header: UNUSED[header]}
    )
    assert header not in guess(rows, aspects=ASPECTS).used


@pytest.mark.parametrize("header", JUDGES)
def test_a_header_says_that_a_judge_scored(header: str) -> None:
    judge, aspect = JUDGES[header]
    rows = rows_of(summary=TEXT, **{"coherence (Anna)": OTHER, header: RATING})
    result = guess(rows, aspects=ASPECTS)
    assert result.judges == {judge: {aspect: header}}
    assert result.ratings == {"coherence": ["coherence (Anna)"]}


@pytest.mark.parametrize("case", GROUPS)
def test_raters_of_an_aspect_are_a_group(case: str) -> None:
    headers = [header for group in GROUPS[case].values() for header in group]
    rows = rows_of(Article=TEXT, Summary=TEXT, **dict.fromkeys(headers, RATING))
    result = guess(rows, aspects=ASPECTS)
    assert result.ratings == GROUPS[case] and not result.judges


def test_columns_of_two_scales_are_no_raters_of_a_single_aspect() -> None:
    rows = rows_of(summary=TEXT, coherence_anna=RATING, coherence_share=SHARE)
    assert len(guess(rows, aspects=ASPECTS).ratings) == 2


def test_the_corpus_has_sixty_headers() -> None:
    grouped = {
        name for case in GROUPS.values() for group in case.values() for name in group
    }
    assert len({*ROLES, *UNUSED, *JUDGES, *grouped}) >= 60


def test_a_table_of_natural_headers() -> None:
    """All roles at once: the names that indicate a role plainly do not take others'
    columns.
    """
    raters = ["Coherence - Rater 1 (Anna)", "Coherence - Rater 2 (Ben)"]
    kinds = {"Doc ID": "id", "Article": TEXT, "System Name": "name", "Summary": TEXT}
    kinds |= {
        "Gold Summary": TEXT,
        "gpt-4o score": RATING,
        "ROUGE-L F1": SHARE,
        "Notes": TEXT,
    }
    result = guess(rows_of(**kinds, **dict.fromkeys(raters, RATING)), aspects=ASPECTS)
    assert (result.item, result.system, result.text) == (
        "Doc ID",
        "System Name",
        "Summary",
    )
    assert (result.source, result.references) == (["Article"], ["Gold Summary"])
    assert result.ratings == {"coherence": raters}
    assert [*result.judges] == [
        "gpt-4o-score",
        "rouge-l-f1",
    ] and "Notes" not in result.used


def test_texts_of_a_single_source_are_judged_and_repeated_texts_are_the_source() -> (
    None
):
    tasks = [
        f"Write at length about the mill at Orrin and its owners, part {at // 2}."
        for at in range(6)
    ]
    rows = [
        {
            "id": at,
            "task": tasks[at],
            "result": f"It burnt down {at}.",
            "writer": "ab"[at % 2],
            **row,
        }
        for at, row in enumerate(rows_of(human=RATING, judge=OTHER))
    ]
    result = guess(rows, aspects=ASPECTS)
    assert (result.text, result.source, result.system) == ("result", ["task"], "writer")
    assert result.item is None and not doubtful_texts(rows, result)
    rows = [{**row, "task": f"{row['task']} {row['id']}"} for row in rows]
    result = guess(rows, aspects=ASPECTS)
    assert result.text == "task" and doubtful_texts(rows, result) == ["result"]
    rows = [
        {"comment": row["result"], "Summary": row["task"], "judge": 1} for row in rows
    ]
    assert not doubtful_texts(rows, guess(rows, aspects=ASPECTS))
