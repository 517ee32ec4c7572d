"""What the report says of perturbations, of hints and of stated bars."""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.claims import claims
from judgescope.report.sections.sentences import verdicts

Row = dict[str, Any]
TYPOS = {"perturbation": "typos", "degree": "minor", "form": "perturbation"}
BAR = {"form": "bar spearman", "aspect": "fluency", "level": "by_source"}


def rows(statistic: str, outcome: str, *reasons: str, **more: Any) -> list[Row]:
    """Return a claim's rows of judge alpha: its number, what stands beside it, and its
    verdict.
    """
    beside = more.pop("beside", {})
    values = [study.row("chat", "alpha", statistic, 0.4, **more)]
    for name, result in beside.items():
        content = {"ci_low": None, "ci_high": None, **result}
        value = content.pop("value")
        values.append(study.row("chat", "alpha", name, value, **more) | content)
    note = {"note": "; ".join([outcome, *reasons]), "ci_low": None, "ci_high": None}
    return [*values, study.row("chat", "alpha", "verdict", 1.0, **more) | note]


def stated(folder: Path, message: list[Row]) -> str:
    perturbations = list(study.discernment())
    report = study.loaded(
        study.make(folder, {"verdicts": message, "discernment": perturbations})
    )
    alpha = next(judge for judge in report.judges if judge.id == "alpha")
    return " ".join(
        f"{title} {text}." for title, text in verdicts(report, claims(report, alpha))
    )


@pytest.mark.parametrize(
    ("outcome", "reasons", "words"),
    [
        ("noticed", (), ["Better than chance at", "typos (minor)", "40"]),
        ("noticed", ("rarely",), ["fewer than a quarter"]),
        ("not_shown", ("length",), ["Not shown", "comparing lengths detects it"]),
        ("misses", (), ["Fails at", "typos (minor)"]),
        ("no_claim", ("not_judged",), ["No claim", "missing"]),
    ],
)
def test_perturbation(
    tmp_path: Path, outcome: str, reasons: tuple[str, ...], words: list[str]
) -> None:
    share = {"net_share": {"value": 0.4, "ci_low": 0.2, "ci_high": 0.6}}
    result = stated(tmp_path, rows("D_exact", outcome, *reasons, beside=share, **TYPOS))
    assert all(word in result for word in words), result
    assert "D_exact" not in result  # it is no size


@pytest.mark.parametrize(
    ("outcome", "reasons", "words"),
    [
        ("withstands", (), ["Succeeds at withstanding", "hints"]),
        ("swayed", (), ["Fails at", "hints"]),
        ("no_claim", ("asked_once",), ["No claim", "only once"]),
    ],
)
def test_hints(
    tmp_path: Path, outcome: str, reasons: tuple[str, ...], words: list[str]
) -> None:
    result = stated(tmp_path, rows("hint_effect", outcome, *reasons, form="hints"))
    assert all(word in result for word in words), result


def test_finding_the_texts_of_a_label_names_the_share_that_is_enough(
    tmp_path: Path,
) -> None:
    result = rows("tnr", "withstands", form="caught", aspect="fluency", level="pooled")
    perturbed = {"verdicts": result, "discernment": list(study.discernment())}
    spec = study.make(tmp_path, perturbed)
    spec["datasets"]["chat"]["labels"] = {"fluency": ["fail", "pass"]}
    report = study.loaded(spec)
    [claim] = claims(
        report, next(judge for judge in report.judges if judge.id == "alpha")
    )
    [(title, text)] = verdicts(report, [claim])
    assert f"{title} {text}".startswith(
        "Succeeds at finding at least 90\u202f% (default bar) of the texts that people "
        "label “fail” "
        "on Fluency ("
    )


def bar(outcome: str, *reasons: str, more: Row | None = None) -> list[Row]:
    limit = {"value": 0.3, "note": "at least"}
    needed = {"more_needed": more} if more else {}
    return rows("spearman", outcome, *reasons, beside={"bar": limit, **needed}, **BAR)


def test_a_bar_that_is_met_is_all_that_may_be_trusted(tmp_path: Path) -> None:
    result = stated(tmp_path, bar("meets"))
    assert (
        result.startswith("May be trusted")
        and "bar: Spearman ρ of at least 0.300 (" in result
    )
    assert "mean over sources) on Fluency" in result
    assert "0.400 [0.300, 0.500]" in result
    result = stated(tmp_path / "two", bar("misses"))
    assert "trusted" not in result and result.startswith("Misses")


def test_a_bar_that_cannot_be_reported_says_how_much_more_would_tell(
    tmp_path: Path,
) -> None:
    more = {"value": 41.0, "method": "sources like these, if errors fall", "note": ""}
    result = stated(tmp_path, bar("cannot_tell", more=more))
    assert (
        "Cannot tell" in result
        and "41 more sources like these would decide it" in result
    )
    far = {
        "value": None,
        "method": "sources like these, if",
        "note": "more than 10,000",
    }
    result = stated(tmp_path / "far", bar("cannot_tell", "lost", more=far))
    assert "needs more than 10\u202f000 more sources" in result and "lost" in result
