"""An ensemble of five annotators and a supervisor, whole, on loopback: who is heard and
asked.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow.parquet as pq
import pytest

from asking import FAST, AskedStudy
from judgescope.scoring.ensembles import outliers
from report_setup import text_of_pages
from scripted import Body, Said, prompt_of, reply, serve

pytestmark = [pytest.mark.slow, pytest.mark.long(35)]
MEMBERS = [f"m{number}" for number in range(1, 6)]
VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
SCORES: dict[int, list[int | None]] = {
    0: [5, 5, 5, 5, 1],
    1: [4, 4, 4, 4, 1],
    2: [4, 4, None, 3, 3],
}
"""By the kind of a text: the fifth lies two deviations from the mean, exactly; the
third says nothing that can be read.
"""
FORM = "Mark the errors.\n{{ text }}"
TEXT = re.compile(
    r"Mark the errors\.\n(.*)|The [a-z]+:\n(.*?)\n\nAnnotator 1\n", re.DOTALL
)
Row = dict[str, Any]


def kind_of(text: str) -> int:
    return crc32(text.strip().encode()) % 3


def garbled(text: str) -> bool:
    return crc32(text.strip().encode()) % 7 == 0


def beginning(text: str) -> str:
    return " ".join(text.split()[:2])


def text_of(prompt: str) -> str:
    result = TEXT.match(prompt) or TEXT.search(prompt)
    assert result is not None, prompt
    return str(next(filter(None, result.groups()))).strip()


def annotate(body: Body) -> Said:
    """Mark the first words, as a member does of such a text; merge all into one
    error.
    """
    prompt, model = prompt_of(body), body["model"]
    text = text_of(prompt)
    first = beginning(text)
    if model == "super":
        severity = max(map(int, re.findall(r"^Severity: (\d)$", prompt, re.MULTILINE)))
        words = (
            f"Error 1:\nLocation: {first}\nExplanation: merged\nSeverity: {severity}"
        )
        return reply("That is hard to say." if garbled(text) else words)
    number = MEMBERS.index(model)
    score = SCORES[kind_of(text)][number]
    if score is None:
        return reply("What a fine text!")
    overall = (
        f"Overall score: {VERDICTS[score - 1]}\nExplanation of the score: so it is."
    )
    if score == 5:
        return reply(f"No Error\n\n{overall}")
    error = (
        f"Error 1:\nLocation: {first}\nExplanation: {model} says so\nSeverity: "
        f"{6 - score}"
    )
    return reply(f"{error}\n\n{overall}")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(annotate) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("ensemble"), endpoint)
        prompts = study.folder / "config" / "prompts"
        prompts.mkdir()
        (prompts / "mark.jinja").write_text(FORM, encoding="utf-8")
        alike = {
            "engine": "openai",
            "base_url": endpoint.url,
            "probe": False,
            "limits": FAST,
        }
        price = {"input": 1, "output": 2}
        for name in [*MEMBERS, "super"]:
            study.card("models", name, **alike, price=price)
        for name in MEMBERS:
            study.card("judges", name, model=name, form="mark", parser="annotation")
        some = {"members": MEMBERS, "min_annotators": 3}
        led = {"combine": "supervisor", "supervisor": {"model": "super"}}
        study.card("judges", "supervised", **some, **led)
        study.card("judges", "by-rule", **some)
        study.write(judges=[*MEMBERS, "supervised", "by-rule"])
        yield study


@pytest.fixture(scope="module")
def ran(study: AskedStudy) -> Counter[str]:
    """Run the study twice, the second time without what was merged; return what was
    asked.
    """
    checked = study.judgescope("check")
    assert checked.returncode == 0, checked.stdout[-3000:]
    assert (
        "720" in checked.stdout and not study.endpoint.asked
    )  # 5 x 120 and 120 at most
    done = study.run()
    assert done.returncode == 0, done.stdout[-4000:]
    first = Counter(body["model"] for body in study.endpoint.asked)
    (results(study) / "made" / "demo-dialogue" / "merges.super.parquet").unlink()
    assert study.run().returncode == 0
    assert Counter(body["model"] for body in study.endpoint.asked) == first
    return first


def results(study: AskedStudy) -> Path:
    return study.folder / "results" / "asked"


def table(study: AskedStudy, folder: str, judge: str) -> dict[str, Row]:
    """Return target -> the row of a judge."""
    [path] = results(study).glob(f"{folder}/demo-dialogue/*/systems/{judge}.parquet")
    return {row["target"]: row for row in pq.read_table(path).to_pylist()}


def texts(study: AskedStudy) -> dict[str, str]:
    path = results(study) / "targets" / "demo-dialogue" / "systems.parquet"
    return {row["target"]: row["text"] for row in pq.read_table(path).to_pylist()}


def test_members_are_asked_once_and_the_supervisor_given_an_error(
    study: AskedStudy, ran: Counter[str]
) -> None:
    result = texts(study)
    assert [ran[name] for name in MEMBERS] == [len(set(result.values()))] * 5
    lists = {
        (text, kind_of(text)) for text in result.values() if kind_of(text) != 0
    }  # of kind 0 only the outlier has an error
    assert ran["super"] == len(lists) > 40


def test_the_score_is_the_mean_of_all_whoever_is_heard(
    study: AskedStudy, ran: Counter[str]
) -> None:
    result = texts(study)
    for judge in ("supervised", "by-rule"):
        for target, row in table(study, "scores", judge).items():
            known = [
                score for score in SCORES[kind_of(result[target])] if score is not None
            ]
            assert row["value"] == pytest.approx(sum(known) / len(known))
            assert (row["n_draws"], row["n_missing"]) == (5, 5 - len(known))
    assert outliers([5, 5, 5, 5, 1]) == [False, False, False, False, True]


def test_an_outlier_has_no_say_in_the_errors(
    study: AskedStudy, ran: Counter[str]
) -> None:
    asked = [
        prompt_of(body) for body in study.endpoint.asked if body["model"] == "super"
    ]
    kinds = Counter(kind_of(text_of(prompt)) for prompt in asked)
    assert kinds[0] == 0 and kinds[1] and kinds[2]
    for prompt in asked:
        matches = re.findall(r"(m\d) says so", prompt)
        assert matches == (
            MEMBERS[:4] if kind_of(text_of(prompt)) == 1 else ["m1", "m2", "m4", "m5"]
        )
        assert "Category" not in prompt


def test_errors_are_located_and_a_reply_that_cannot_be_read_leaves_none(
    study: AskedStudy, ran: Counter[str]
) -> None:
    result, seen = texts(study), set[bool]()
    ruled = table(study, "judgments", "by-rule")
    for target, row in table(study, "judgments", "supervised").items():
        text = result[target]
        kind = kind_of(text)
        assert row["status"] == "ok"
        if kind == 0:
            assert row["spans"] == [] == ruled[target]["spans"]
            assert row["rule"].endswith("no member lists an error")
            continue
        first, worst = beginning(text), {1: 2, 2: 3}[kind]
        [span] = ruled[target]["spans"]
        assert (span["location"], span["severity"]) == (first, worst)
        assert text[span["start"] : span["end"]] == first
        if garbled(text):
            assert row["spans"] is None and row["rule"].endswith(
                "supervisor unparsed, no_list"
            )
        else:
            [span] = row["spans"]
            assert (span["explanation"], span["severity"]) == ("merged", worst)
            assert (
                text[span["start"] : span["end"]] == first and span["match"] == "exact"
            )
        seen.add(garbled(text))
    assert seen == {True, False}


def test_what_is_left_to_be_merged_is_counted_exactly(
    study: AskedStudy, ran: Counter[str]
) -> None:
    def counted() -> list[str]:
        """Return what is wanted, in the store, and to be asked."""
        done = study.judgescope("check")
        assert done.returncode == 0, done.stdout[-3000:]
        [line] = re.findall(r"\n +errors merged for supervised, \S+ (.*)", done.stdout)
        return str(line).split()[:3]

    n = str(ran["super"])
    assert counted() == [n, n, "0"]
    card = study.folder / "config" / "judges" / "supervised.yaml"
    kept = card.read_text(encoding="utf-8")
    card.write_text(
        kept.replace("model: super", "max_tokens: 99\n  model: super"), "utf-8"
    )
    assert counted() == [n, "0", n]
    card.write_text(kept, encoding="utf-8")


def test_what_merging_cost_is_reported(study: AskedStudy, ran: Counter[str]) -> None:
    [row] = [
        row
        for row in study.rows("cost")
        if row["statistic"] == "usd" and row["perturbation"] == "merges.super"
    ]
    assert row["value"] == pytest.approx(ran["super"] * (7 + 2 * 3) / 1e6)
    page = text_of_pages(results(study) / "report")
    assert "lists of errors merged by super" in page


def test_replies_that_a_supervisor_gave_are_kept_while_its_list_is_not_written(
    study: AskedStudy, ran: Counter[str]
) -> None:
    path = results(study) / "made" / "demo-dialogue" / "merges.super.parquet"
    kept = path.read_bytes()
    path.unlink()
    done = study.judgescope("replies", "prune", "--yes")
    assert done.returncode != 0 and "demo-dialogue: merges.super" in done.stdout
    path.write_bytes(kept)
    done = study.judgescope("replies", "prune")
    assert done.returncode == 0, done.stdout
