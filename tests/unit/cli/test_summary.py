"""The tables that end a run in the terminal hold only judges and columns with a
number.
"""

from pathlib import Path

from judgescope.cli.summary import summary
from judgescope.schema.tables import table_of, write_table
from report_study import Row, row


def written(out: Path, table: str, rows: list[Row]) -> Path:
    path = out / "tables" / f"{table}.parquet"
    path.parent.mkdir(exist_ok=True)
    write_table("results", table_of("results", rows), path)
    return out


def test_judges_and_columns_without_a_number_are_no_rows_and_columns(
    tmp_path: Path,
) -> None:
    keys = {"form": "agreement", "level": "pooled", "n": 20}
    rows = [
        row("news", judge, "spearman", value, aspect=aspect, **keys)
        for judge, aspect, value in (
            *(("good", "fluency", 0.5), ("good", "style", None)),
            *(("flat", "fluency", None), ("flat", "style", None)),
        )
    ]
    lines = summary(written(tmp_path, "verdicts", rows)).splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [
        ["judge", "fluency"],
        ["good", "0.50"],
    ]
    assert lines[4] == "  none of these numbers: flat (the same score for all texts)"


def test_constant_judge_without_a_number_has_its_reason(tmp_path: Path) -> None:
    keys = {"form": "agreement", "level": "pooled", "aspect": "style"}
    rows = [
        row("news", "flat", "spearman", None, note="constant judge", **keys),
        row("news", "few", "spearman", None, note="fewer than 3 texts", **keys),
    ]
    lines = summary(written(tmp_path, "verdicts", rows)).splitlines()
    expected = "  none of these numbers: few, flat (the same score for all texts)"
    assert expected in lines


def test_judges_with_unreadable_replies_are_distinguished_from_constant_judges(
    tmp_path: Path,
) -> None:
    keys = {"form": "agreement", "level": "pooled", "aspect": "style"}
    rows = [
        row("news", judge, "spearman", None, **keys)
        for judge in ("flat", "mute", "half")
    ]
    counts = {"flat": {"ok": 20}, "mute": {"out_of_range": 18, "empty": 2}}
    counts |= {
        "half": {"ok": 10, "unparsed": 10, "not_applicable": 5},
        "fine": {"ok": 19},
    }
    counts["fine"] |= {"unparsed": 1}
    covered = [
        row("news", judge, f"count_{status}", float(n), aspect="style")
        for judge, statuses in counts.items()
        for status, n in statuses.items()
    ]
    lines = summary(
        written(written(tmp_path, "coverage", covered), "verdicts", rows)
    ).splitlines()
    assert "  none of these numbers: flat (the same score for all texts)" in lines
    warnings = [line for line in lines if line.startswith("warning: ")]
    assert warnings == [
        "warning: news: 10 of 20 judgments of half have no value (unparsed 10)",
        "warning: news: 20 of 20 judgments of mute have no value (out of range 18, "
        "empty 2)",
    ]


def test_warnings_of_reading_a_dataset_are_shown_and_notices_are_not(
    tmp_path: Path,
) -> None:
    out = written(tmp_path, "coverage", [row("news", "good", "coverage", 1.0)])
    (out / "items").mkdir()
    (out / "items" / "news.json").write_text(
        '{"problems": ["a notice", "warning: a loss"]}'
    )
    (out / "items" / "former.json").write_text(
        '{"problems": ["warning: of another study"]}'
    )
    assert summary(out).splitlines()[1:-2] == ["news: warning: a loss"]


def test_the_job_with_the_largest_memory_is_named(tmp_path: Path) -> None:
    out = written(tmp_path, "coverage", [row("news", "good", "coverage", 1.0)])
    assert "most memory" not in summary(out)
    for name, memory in (("a/one", "93.5"), ("a/two", "1204.12"), ("b", "NA")):
        path = out / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tmax_rss\n1.5\t{memory}\n", encoding="utf-8")
    assert "most memory of a job: 1,204 MB (a/two)" in summary(out).splitlines()


def test_zero_has_no_minus(tmp_path: Path) -> None:
    keys = {"form": "agreement", "level": "pooled", "n": 20, "aspect": "style"}
    zero = row("news", "good", "spearman", -0.004, **keys) | {
        "ci_low": -0.3,
        "ci_high": -0.001,
    }
    assert "0.00 [-0.30, 0.00]" in (
        text := summary(written(tmp_path, "verdicts", [zero]))
    )
    assert "-0.00" not in text


def test_means_over_all_datasets_replace_those_of_each(tmp_path: Path) -> None:
    rows = [
        row(name, "good", "kappa_linear", 0.4, aspect="average", level="global")
        for name in ("news", "talk", "overall")
    ]
    result = summary(written(tmp_path, "perspectives", rows[:2]))
    assert "\nnews: perspectives" in result and "\ntalk: perspectives" in result
    result = summary(written(tmp_path, "perspectives", rows))
    assert "\nnews" not in result and "\noverall: perspectives" in result


def test_what_decides_claims_on_labels_and_pairs_is_shown(tmp_path: Path) -> None:
    rows = [
        row(
            "news",
            "good",
            statistic,
            value,
            aspect="truth",
            form=form,
            level="pooled",
            n=30,
        )
        for form, statistic, value in (
            *(("caught", "tnr", 0.6), ("labels", "balanced_accuracy", 0.7)),
            *(("pairs", "half_credit", 0.8), ("pairs", "p_claim", 0.01)),
        )
    ]
    lines = summary(written(tmp_path, "verdicts", rows)).splitlines()
    assert lines[1] == "news: labels and choices compared with people's; 95 % intervals"
    for heading in ("bad texts found", "balanced accuracy", "better text chosen"):
        assert f"truth, {heading}" in lines[2]
    assert (
        all(f"{value:.2f} [" in lines[3] for value in (0.6, 0.7, 0.8))
        and "0.01" not in lines[3]
    )


def test_the_sign_of_a_claim_stands_before_its_number(tmp_path: Path) -> None:
    keys = {"form": "agreement", "level": "within_source", "n": 20, "aspect": "style"}
    rows = []
    for judge, sign in (("good", "+"), ("long", "~"), ("length", "-")):
        rows.append(row("news", judge, "normal_scores", 0.5, **keys))
        rows.append(row("news", judge, "sign", 3.0, note=sign, **keys))
    text = summary(written(tmp_path, "verdicts", rows))
    cells = {
        line.split()[0]: line.split()[1] for line in text.splitlines() if "0.50" in line
    }
    assert cells == {"good": "+", "long": "~", "length": "0.50"}
    assert "Signs: + holds; ~ agrees" in text and "x fails" not in text
