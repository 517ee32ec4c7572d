"""What an audit answers: headline, rival, counts, picture, several judges, parts."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from audit_setup import Rows, chosen, made, passed, two, write
from claims_setup import claim, of_judges
from judgescope.cli.audit.content import json_schema
from judgescope.cli.audit.numbers import limit_or_rival
from judgescope.cli.audit.pictures import MOST_LINES
from judgescope.cli.main import main
from judgescope.report.claims import own_claims

pytestmark = pytest.mark.heavy


class Audited(NamedTuple):
    """The exit code of an audit, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.out)
        return content

    @property
    def words(self) -> str:
        return " ".join(self.out.split())

    def part(self, begins: str) -> str:
        [part] = [
            part for part in self.out.split("\n\n") if part.strip().startswith(begins)
        ]
        return part.strip("\n")


Audit = Callable[..., Audited]


@pytest.fixture
def audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Audit:
    """Return what audits rows in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(rows: Rows, *words: str, name: str = "mine.csv") -> Audited:
        write(rows, Path(name))
        monkeypatch.setattr("sys.argv", ["judgescope", "audit", name, *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Audited(ended.value.code, printed.out, printed.err)

    return run


def by_length(n: int = 80) -> list[dict[str, Any]]:
    """Return texts whose length shows their quality better than the judge does."""
    rng, rows = np.random.default_rng(3), []
    for at in range(n):
        quality = int(rng.integers(1, 6))
        row: dict[str, Any] = {"id": f"q{at // 4}", "model": f"s{at % 4}"}
        row["human"] = quality
        row["judge"] = int(np.clip(quality + rng.integers(-2, 3), 1, 5))
        row["n_chars"] = 60 * quality + int(rng.integers(-20, 20))
        rows.append(row)
    return rows


def three_labels(n: int = 60) -> list[dict[str, Any]]:
    rng = np.random.default_rng(9)
    words = ("poor", "fair", "good")
    rows = []
    for at in range(n):
        quality = int(rng.integers(0, 3))
        judged = quality if rng.random() < 0.7 else int(rng.integers(0, 3))
        text = "word " * int(rng.integers(3, 20))
        row = {"id": at, "answer": f"{at} {text}", "human": words[quality]}
        rows.append({**row, "judge": words[judged]})
    return rows


def with_draws(n: int = 60) -> list[dict[str, Any]]:
    rng = np.random.default_rng(12)
    rows = []
    for at in range(n):
        quality = int(rng.integers(1, 6))
        row: dict[str, Any] = {"id": at, "human": quality}
        for run in (1, 2, 3):
            row[f"gpt4_run{run}"] = int(np.clip(quality + rng.integers(-1, 2), 1, 5))
        row["gpt4_confidence"] = round(float(rng.uniform(0.5, 1)), 2)
        rows.append(row)
    return rows


def people_only(n: int = 60) -> list[dict[str, Any]]:
    return [
        {
            "answer": f"{at} {row['answer']}",
            "Quality (Anna)": row["Quality (Anna)"],
            "Quality (Ben)": row["Quality (Ben)"],
        }
        for at, row in enumerate(made(n))
    ]


def with_topics(n: int = 80) -> list[dict[str, Any]]:
    return [
        {**row, "topic": ("law", "sport")[at % 2], "note": ("a", "b")[at % 2]}
        for at, row in enumerate(two(n))
    ]


KINDS: dict[str, Callable[[], Rows]] = {
    "ratings": made,
    "ratings without texts": two,
    "labels": passed,
    "three labels": three_labels,
    "pairs": chosen,
    "lengths": by_length,
    "draws": with_draws,
    "people": people_only,
    "parts": with_topics,
}


def without_points(rows: Rows) -> Rows:
    """Rows without the judge that gives points instead of labels."""
    kept = []
    for row in rows:
        kept.append({name: row[name] for name in row if name != "gpt_score"})
    return kept


def strict(schema: Any) -> Any:
    """A schema that allows no key beside those that it names."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(each) for key, each in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


# --- for programs ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_output_fits_the_schema(audit: Audit, kind: str) -> None:
    rows = KINDS[kind]()
    page = audit(rows, "--json", name="t.jsonl")
    validator = Draft202012Validator(strict(json_schema()))
    validator.validate(page.content)
    assert page.content["schema"] == "judgescope.audit/1"
    bars = audit(rows, "--json", "--require", "spearman=.99", name="t.jsonl")
    validator.validate(bars.content)
    assert bars.content["exit_code"] == bars.status


def test_a_refusal_fits_the_schema() -> None:
    refused = {
        "schema": "judgescope.audit/1",
        "exit_code": 3,
        "error": [
            {
                "what": "it is open which column is the judge's",
                "where": "t.csv",
                "got": None,
                "allowed": ["a", "b"],
                "todo": "name it: --judge COLUMN",
            }
        ],
        "options": [{"command": "judgescope audit t.csv --judge a"}],
    }
    validator = Draft202012Validator(strict(json_schema()))
    validator.validate(refused)
    del refused["error"]
    assert not validator.is_valid(refused)


def test_the_command_prints_the_schema(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["judgescope", "schema", "audit"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
    monkeypatch.setattr("sys.argv", ["judgescope", "schema", "audits"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1 and "nearest: audit" in capsys.readouterr().err


# --- sentence and numbers -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_headline_is_short_and_praises_only_what_holds(
    audit: Audit, kind: str
) -> None:
    content = audit(KINDS[kind](), "--json", name="t.jsonl").content
    headline = content["headline"]
    assert headline and len(headline.split()) <= 25
    signs = set()
    for judge in content["judges"].values():
        signs |= {claim["sign"] for claim in judge["claims"]}
    if re.search(r"\b(follows|as well as|picks|gives people's)\b", headline):
        assert "+" in signs
    shown = audit(KINDS[kind](), name="t.jsonl").out
    words = " ".join(shown.split("\n\n")[1].split()).replace(",", "")
    assert words.startswith(headline.replace("\u202f", " ").replace(",", "")[:60])


def test_a_sentence_that_withholds_praise_has_the_rivals_number(audit: Audit) -> None:
    words = ("--length", "n_chars", "--html", "page.html")
    text = audit(by_length(), *words).words
    [claim] = audit(by_length(), "--json", *words).content["judges"]["judge"]["claims"]
    rival = claim["rival_value"]
    low, high = rival["ci_low"], rival["ci_high"]
    reaches = f"text length alone reaches {rival['value']:.3f} [{low:.3f}, {high:.3f}]"
    number = f"{claim['value']:.3f} [{claim['ci_low']:.3f}, {claim['ci_high']:.3f}]"
    assert claim["sign"] == "~" and claim["rival_in_words"] == reaches
    assert f"({claim_label(claim)} {number}; {reaches}; not shown" in text
    html = Path("page.html").read_text("utf-8")
    assert html.count(reaches) >= 2
    assert reaches in audit(by_length(), *words, "--json").content["judges"]["judge"][
        "sentence"
    ].replace("\u202f", " ")


def claim_label(claim: dict[str, Any]) -> str:
    labels = {"normal_scores": "Pairwise correlation", "spearman": "Spearman ρ"}
    return labels[claim["statistic"]]


def test_shares_of_labels_say_how_many_texts_they_count(audit: Audit) -> None:
    rows = without_points(passed())
    bad = [row for row in rows if "fail" in (row["human_1"], row["human_2"])]
    missed = sum(row["gpt_verdict"] == "pass" for row in bad)
    page = audit(rows)
    assert f"of {len(bad)} “fail” texts it calls {missed} “pass”" in page.words
    [judge] = audit(rows, "--json").content["judges"].values()
    [caught] = [claim for claim in judge["claims"] if claim["kind"] == "caught"]
    assert caught["label_counts"] == {
        "label": "fail",
        "texts": len(bad),
        "missed": missed,
    }
    assert caught["value"] == pytest.approx(1 - missed / len(bad))


def test_a_judge_without_errors_on_labels_counts_its_deciding_sources(
    audit: Audit,
) -> None:
    rows = []
    for at in range(90):
        # Of 45 questions every third has a bad answer.
        word = "fail" if at % 6 == 0 else "pass"
        rows.append({"question": f"Question {at // 2}?", "human": word, "judge": word})
    words = audit(rows).words
    assert "90 texts; 15 sources decide the interval" in words
    assert "90 of 90 texts; intervals rest on 15 of 45 sources" in words


def test_a_reversed_scale_is_asked_about(audit: Audit) -> None:
    rows = [{**row, "judge": 6 - row["judge"]} for row in two(100)]
    assert "judge: is the scale reversed?" in audit(rows).words
    assert "reversed" not in audit(two(100)).words


@pytest.mark.parametrize("kind", ["ratings", "labels", "pairs"])
def test_the_last_line_has_the_expected_false_claims(audit: Audit, kind: str) -> None:
    printed = audit(KINDS[kind]()).out
    content = audit(KINDS[kind](), "--json").content["false_claims"]
    last = " ".join(printed.strip().split("\n\n")[-1].split())
    expected = 0.025 * content["families"]
    assert content["families"] and content["expected"] == pytest.approx(expected)
    assert last.startswith(f"At most {expected:.3g} false claims are expected")


# --- picture --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "parts"])
def test_text_and_html_have_a_picture(audit: Audit, kind: str) -> None:
    done = audit(KINDS[kind](), "--html", "page.html", name="t.jsonl")
    picture = done.out.split("\n\n")[2]
    assert "people:" in picture and len(picture.splitlines()) <= MOST_LINES
    assert max(map(len, done.out.splitlines())) <= 500
    html = Path("page.html").read_text("utf-8")
    assert '<svg class="crossing"' in html and "The numbers of this figure" in html
    assert len(html) < 150_000


@pytest.mark.parametrize("kind", ["labels", "three labels"])
def test_the_matrix_has_the_counts_of_the_claims(audit: Audit, kind: str) -> None:
    rows = without_points(KINDS[kind]())
    content = audit(rows, "--json").content
    [(name, judge)] = content["judges"].items()
    [picture] = [each for each in content["pictures"] if each["judge"] == name]
    counts = np.array(picture["counts"])
    recalls = np.diag(counts) / counts.sum(axis=0)
    balanced = next(each for each in judge["claims"] if each["kind"] == "labels")
    assert np.mean(recalls) == pytest.approx(balanced["value"])
    assert counts.sum() == balanced["n"]


def test_the_picture_of_pairs_has_the_first_text_first(audit: Audit) -> None:
    rows = chosen()
    content = audit(rows, "--json").content
    [picture] = [each for each in content["pictures"] if each["judge"]]
    assert picture["people"] == picture["judged"] == ["first", "tie", "second"]
    firsts = sum(row["gpt4_winner"] == "A" for row in rows)
    assert sum(picture["counts"][0]) == firsts


def test_a_judge_that_prefers_the_first_text_is_seen(audit: Audit) -> None:
    """It needs no second order: people saw the same one."""
    rng = np.random.default_rng(1)
    rows = [{**row} for row in chosen(120)]
    for row in rows:
        if rng.random() < 0.6:
            row["gpt4_winner"] = "A"
    content = audit(rows, "--json").content
    [choices] = content["first_choices"]
    share = np.mean(
        [{"A": 1.0, "tie": 0.5, "B": 0.0}[row["gpt4_winner"]] for row in rows]
    )
    assert choices["of_judge"]["value"] == pytest.approx(share)
    assert choices["differs"] and choices["difference"]["ci_low"] > 0
    words = audit(rows).words
    assert "first text chosen, Overall: gpt4_winner" in words and "(differs)" in words
    [even] = audit(chosen(120), "--json").content["first_choices"]
    assert not even["differs"]


# --- several judges -------------------------------------------------------------------


def test_judges_are_compared_with_the_best_judge(audit: Audit) -> None:
    rng = np.random.default_rng(6)
    rows = []
    for row in made(200):
        twin = row["quality_gpt4"]
        if rng.random() < 0.03:
            twin = int(np.clip(twin + 1, 1, 5))
        noise = int(rng.integers(1, 6))
        rows.append({**row, "quality_claude": twin, "quality_llama": noise})
    content = audit(rows, "--json").content
    gaps = {gap["other"]: gap for gap in content["gaps"]}
    [best] = {gap["best"] for gap in content["gaps"]}
    values = {
        name: judge["claims"][0]["value"] for name, judge in content["judges"].items()
    }
    assert best == max(values, key=lambda name: values[name]) and len(gaps) == 2
    for other, gap in gaps.items():
        gained = values[best] - values[other]
        assert gap["difference"]["value"] == pytest.approx(gained)
        assert gap["difference"]["value"] >= 0
    assert gaps["llama"]["apart"]
    [near] = [name for name in gaps if name != "llama"]
    assert not gaps[near]["apart"]
    page = audit(rows)
    assert "Judges by aspect:" in page.out and "cannot tell apart" in page.words
    assert re.search(r"llama 0\.\d+ \[[^]]*\] \(behind, p", page.words)


def test_a_single_judge_has_nothing_beside_it(audit: Audit) -> None:
    assert audit(made(), "--json").content["gaps"] == []
    assert "Judges by aspect" not in audit(made()).out


# --- what else the file has -----------------------------------------------------------


def test_draws_of_a_judge_are_compared_with_each_other(audit: Audit) -> None:
    rows = with_draws()
    content = audit(rows, "--json").content
    [draws] = content["draws"]
    differ = [
        len({row["gpt4_run1"], row["gpt4_run2"], row["gpt4_run3"]}) > 1 for row in rows
    ]
    assert draws["draws"] == 3
    assert draws["flips"]["value"] == pytest.approx(np.mean(differ))
    assert 0 < draws["alpha"]["ci_low"] < draws["alpha"]["value"] < 1
    assert "with itself, Overall: 3 draws" in audit(rows).words


def test_a_column_of_confidence_is_named_and_counted(audit: Audit) -> None:
    rows = with_draws()
    rows[3]["gpt4_confidence"] = ""
    [result] = audit(rows, "--json").content["confidences"]
    assert result["column"] == "gpt4_confidence" and result["judge"]
    assert result["count"] == len(rows) - 1
    assert "confidence of" in audit(rows).words


def test_scores_of_texts_that_nobody_rated_are_counted(audit: Audit) -> None:
    rows = [{**row} for row in made(100)]
    for row in rows[:15]:
        row["Quality (Anna)"] = row["Quality (Ben)"] = ""
    [unrated] = audit(rows, "--json").content["unrated"]
    assert unrated["scored"] == 100 and unrated["unrated"] == 15
    assert "scored 100 texts on Quality; 15 of them have no rating" in audit(rows).words
    assert audit(made(), "--json").content["unrated"] == []


def test_ratings_of_people_alone_lead_to_a_study(audit: Audit) -> None:
    done = audit(people_only())
    assert done.status == 0
    verdict = done.out.split("\n\n")[1]
    assert re.match(r"2 people agree 0\.\d+ on Quality\. No judge was asked\.", verdict)
    assert "judgescope init mine.csv" in done.words
    assert "One person by the others" in done.out
    assert audit(people_only(), "--require", "spearman=.5").status == 2


# --- parts ----------------------------------------------------------------------------


def test_a_part_has_the_number_of_a_file_with_its_rows_alone(audit: Audit) -> None:
    rows = with_topics()
    content = audit(rows, "--json").content
    parts = {(part["column"], part["value"]): part for part in content["slices"]}
    assert list(parts) == [("topic", "law"), ("topic", "sport")]
    for (column, value), part in parts.items():
        of_value = [row for row in rows if row[column] == value]
        alone = audit(of_value, "--json", name="part.csv").content
        claim = alone["judges"]["judge"]["claims"][0]
        [number] = part["numbers"]
        for key in ("statistic", "level", "value", "ci_low", "ci_high", "n"):
            assert number[key] == claim[key]
        assert part["rows"] == part["rated"] == len(of_value)
    text = audit(rows).part("By topic:")
    assert "law (40 rows, 40 rated): judge, Overall: Spearman ρ" in text


def test_only_usual_names_of_columns_are_parts_by_themselves(audit: Audit) -> None:
    few = with_topics(16)
    assert audit(few, "--json").content["slices"] == []
    named = audit(with_topics(), "--json", "--slice", "note").content["slices"]
    assert [part["column"] for part in named] == ["note", "note"]
    unknown = audit(with_topics(), "--slice", "topics")
    assert unknown.status == 3 and "nearest: topic" in unknown.err


def test_values_of_parts_are_cells_of_the_table(audit: Audit) -> None:
    shown = audit(with_topics(), "--no-texts", "--html", "page.html")
    assert "sport" not in shown.out
    assert "sport" not in Path("page.html").read_text("utf-8")
    content = audit(with_topics(), "--no-texts", "--json").content
    assert {part["value"] for part in content["slices"]} == {None}


def test_a_part_without_two_rows_says_why(audit: Audit) -> None:
    rows = with_topics()
    rows[0]["note"] = "alone"
    parts = audit(rows, "--json", "--slice", "note").content["slices"]
    [alone] = [part for part in parts if part["value"] == "alone"]
    [number] = alone["numbers"] or [{"value": None}]
    assert number["value"] is None
    assert alone["why_none"] or number["note"]


def blind_on_law(n: int = 200) -> list[dict[str, Any]]:
    """Return texts on law, whose judge guesses, and on sport."""
    rows = with_topics(n)
    guesses = np.random.default_rng(6).permutation([row["judge"] for row in rows])
    for row, guess in zip(rows, guesses.tolist(), strict=True):
        if row["topic"] == "law":
            row["judge"] = guess
    return rows


def test_a_part_where_the_judge_is_worse_is_named(audit: Audit) -> None:
    rows = blind_on_law()
    content = audit(rows, "--json", "--slice", "topic").content
    tests = {part["value"]: part["tests"] for part in content["slices"]}
    [law], [sport] = tests["law"], tests["sport"]
    assert law["worse"] and law["p_holm"] <= 0.05 and law["difference"]["ci_high"] < 0
    assert not sport["worse"]
    assert law["difference"]["value"] == pytest.approx(-sport["difference"]["value"])
    text = " ".join(audit(rows, "--slice", "topic").part("By topic:").split())
    assert text.count("worse here") == 1 and "minus the rest" in text


def test_parts_alike_are_not_named(audit: Audit) -> None:
    content = audit(with_topics(200), "--json", "--slice", "topic").content
    tests = [test for part in content["slices"] for test in part["tests"]]
    assert len(tests) == 2 and not any(test["worse"] for test in tests)


def test_parts_of_a_single_source_have_no_test(audit: Audit) -> None:
    rows = [{**row, "topic": ("law", "sport")[at % 2]} for at, row in enumerate(made())]
    parts = audit(rows, "--json", "--slice", "topic").content["slices"]
    assert parts and all(part["tests"] == [] for part in parts)
    text = " ".join(audit(rows, "--slice", "topic").part("By topic:").split())
    assert "not compared with the rest: a part is made of sources" in text
    alike = audit(with_topics(), "--slice", "topic").part("By topic:")
    assert "not compared with the rest" not in alike


def test_a_minimum_may_be_required_on_each_part(audit: Audit) -> None:
    rows = blind_on_law(600)
    words = ("--slice", "topic", "--require", "spearman=.15")
    assert audit(rows, *words).status == 0
    done = audit(rows, *words, "--require-slices")
    assert done.status == 1
    text = " ".join(done.part("By topic:").split())
    assert "judge misses" in text and "judge meets" in text
    content = audit(rows, *words, "--require-slices", "--json").content
    outcomes = {
        part["value"]: [bar["outcome"] for bar in part["bars"]]
        for part in content["slices"]
    }
    assert outcomes == {"law": ["misses"], "sport": ["meets"]}
    assert content["exit_code"] == 1 and content["verdict"] == "misses"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--slice", "topic"), "no minimum that could hold"),
        (("--require", "spearman=.1"), "shown in no parts"),
    ],
)
def test_nothing_to_require_on_parts_is_an_error(
    words: tuple[str, ...], message: str, audit: Audit
) -> None:
    rows = [{**row, "topics": row["topic"]} for row in with_topics()]
    for row in rows:
        if "--slice" not in words:
            del row["topic"]
    done = audit(rows, *words, "--require-slices")
    assert done.status == 3 and message in done.err


def by_random_people(n: int = 120) -> list[dict[str, Any]]:
    """Two people who answer at random, and a judge near their mean."""
    rng = np.random.default_rng(31)
    rows: list[dict[str, Any]] = []
    for at in range(n):
        first, second = (int(rating) for rating in rng.integers(1, 6, size=2))
        noise = float(rng.normal(scale=0.5))
        row: dict[str, Any] = {"id": f"q{at // 4}", "model": f"s{at % 4}"}
        row |= {"human_1": first, "human_2": second}
        row["judge"] = round((first + second) / 2 + noise, 2)
        rows.append(row)
    return rows


def test_an_audit_recommends_no_judge_where_people_answer_at_random(
    audit: Audit,
) -> None:
    printed = audit(by_random_people(), "--yes").words
    assert "as well as one of them does" not in printed
    assert "No ceiling on" in printed
    assert "no judge can be recommended. People are not shown to agree" in printed
    assert "120 texts). Have more people rate, by a clearer guide." in printed


def test_an_audit_of_single_ratings_says_that_there_is_no_ceiling(
    audit: Audit,
) -> None:
    words = "Each text has one rating, so there is no ceiling"
    assert words in audit(two(), "--yes").words
    assert words not in audit(made(), "--yes").words


def test_an_audit_says_of_an_unbeaten_rule_what_a_report_says(audit: Audit) -> None:
    """One function words both; a report shows fewer digits."""
    headline = audit(by_length(), "--length", "n_chars", "--json").content["headline"]
    assert re.match(
        r"No judge is shown to beat a simple rule: (on Human )?judge reaches "
        r"0\.\d+, the texts' length 0\.\d+\.",
        headline,
    )


def test_a_claim_that_hangs_on_a_system_says_so_beside_its_number(
    tmp_path: Path,
) -> None:
    """Its sign is that of a limit, and no rival's number would say which."""
    others = {"rival": (0.01, "length"), "rival_value": 0.2}
    rows = [*claim("it", 0.5, "better; hangs_on: human", others=others)]
    rows += claim("as-is", 0.5, others=others)
    report = of_judges(tmp_path, ["it", "as-is"], rows)
    limits = {}
    for judge in report.judges:
        [about] = own_claims(report, judge)
        limits[judge.id] = limit_or_rival(about)
    assert limits == {
        "it": "without the texts of system human it is not shown",
        "as-is": "text length alone reaches 0.200 [0.100, 0.300]",
    }
