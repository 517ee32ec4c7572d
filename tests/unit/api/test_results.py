"""The results of a study in a notebook: its tables, scores and judgments."""

import doctest
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import judgescope as js
from judgescope.api import results as results_module
from judgescope.api.results import StudyResults
from judgescope.api.summary import summary_of
from judgescope.core.errors import UserError
from judgescope.methods.registry import METHODS
from judgescope.schema.tables import table_of, write_table
from running import HOME


@pytest.fixture(scope="module")
def results(demo: Path) -> StudyResults:
    loaded: StudyResults = js.load(demo / "results" / "demo")
    return loaded


@pytest.mark.slow
def test_the_worked_examples_are_right(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    outcome = doctest.testmod(results_module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0 and outcome.attempted > 15


@pytest.mark.slow
def test_every_table_of_the_demo_equals_its_csv_file(
    results: StudyResults, demo: Path
) -> None:
    files = sorted((demo / "results" / "demo" / "tables").glob("*.csv"))
    assert [path.stem for path in files] == list(results.tables) and len(files) > 8
    for path in files:
        table, written = getattr(results, path.stem), pd.read_csv(path)
        assert list(table) == list(written) and len(table) == len(written)
        assert table["value"].dtype == "float64" and table["n"].dtype == "Int64"
        assert pd.api.types.is_string_dtype(table["judge"]), path
        for name in ("value", "ci_low", "ci_high"):
            pd.testing.assert_series_equal(
                table[name], written[name], check_dtype=False
            )


@pytest.mark.slow
def test_every_number_has_n_and_every_estimate_an_interval_or_a_note(
    results: StudyResults,
) -> None:
    for name in results.tables:
        table = getattr(results, name)
        assert (
            table["n"].notna().all() and (table["signature"].fillna("") != "").all()
        ), name
        assert (table.loc[table["value"].isna(), "note"].fillna("") != "").all(), name
    for name in ("agreement", "discernment", "faults", "perspectives"):
        table = getattr(results, name)
        bare = table[table["ci_low"].isna() & (table["note"].fillna("") == "")]
        kinds = {statistic.partition("_")[0] for statistic in bare["statistic"]}
        # class_count and the two numbers of the alternative-annotator test
        assert kinds <= {"p", "rank", "class", "alt"}, name


@pytest.mark.slow
def test_scores_and_judgments_are_those_that_the_tables_rest_on(
    results: StudyResults,
) -> None:
    scores, judgments = results.scores, results.judgments(texts=True)
    assert set(scores["dataset"]) == set(results.datasets) == set(judgments["dataset"])
    per_cell = ["dataset", "perturbation", "judge", "aspect", "target"]
    means = judgments.groupby(per_cell)["value"].mean()
    scored = scores[scores["criterion"].isna()].set_index(per_cell)["value"]
    assert len(means) == len(scored) > 10_000
    pd.testing.assert_series_equal(
        means, scored.reindex(means.index), check_dtype=False
    )
    published = judgments["dataset"] == "demo-hanna"  # numbers without texts
    assert judgments[~published]["text"].str.len().min() > 0
    assert judgments["source"].notna().all()
    assert not {"text", "source"} & {*results.judgments()}


@pytest.mark.slow
def test_discernment_of_the_scores_is_that_of_the_table(results: StudyResults) -> None:
    scores = results.scores.query("dataset == 'demo-news' and judge == 'rouge-1'")
    table = results.discernment.query("dataset == 'demo-news' and judge == 'rouge-1'")
    rows = table[
        (table["perturbation"] == "word-deletions") & (table["degree"] == "major")
    ]
    of_aspects = rows[rows["aspect"] != ""]
    names = ["original", "word-deletions.major"]
    before, after = (
        scores[scores["perturbation"] == name]
        .assign(item=lambda frame: frame["target"].str.split(":").str[0])
        .pivot(index="item", columns="aspect", values="value")
        for name in names
    )
    result = js.discernment(before, after, source=before.index)
    for row in of_aspects[
        of_aspects["statistic"].isin(["rank_biserial", "mean_drop"])
    ].itertuples():
        same = result.loc[(row.aspect, row.statistic)]
        assert same["value"] == pytest.approx(row.value) and same["n"] == row.n
        assert same["ci_low"] == pytest.approx(row.ci_low)
    overall = rows[rows["aspect"] == ""].set_index("statistic")
    for name in ("D", "D_exact"):
        same = result.loc[("", name)]
        assert same["value"] == pytest.approx(overall.loc[name, "value"])
        assert same["ci_low"] == pytest.approx(overall.loc[name, "ci_low"])


@pytest.mark.slow
def test_a_table_that_is_missing_is_an_error_that_names_the_others(
    results: StudyResults,
) -> None:
    assert "confusion" in METHODS
    with pytest.raises(
        AttributeError,
        match=r"did not compute the table 'confusion'; tables in .*: agre",
    ):
        _ = results.confusion
    with pytest.raises(AttributeError, match="no result table has the name 'agrement'"):
        _ = results.agrement
    assert {"agreement", "scores", "judgments"} <= {*dir(results)} and not hasattr(
        results, "_x"
    )
    text = repr(results)
    assert f"agreement ({len(results.agreement):,})" in text and "demo-news" in text


@pytest.mark.slow
def test_judgments_of_a_judge_by_two_models_are_refused(
    demo: Path, tmp_path: Path
) -> None:
    for name in ("items", "judgments", "collected", "tables", "targets"):
        subprocess.run(
            ["cp", "-r", demo / "results" / "demo" / name, tmp_path], check=True
        )
    judged = tmp_path / "judgments" / "demo-news"
    subprocess.run(["cp", "-r", judged / "control", judged / "old-model"], check=True)
    with pytest.raises(UserError, match="one file of judgments is expected, not 2"):
        js.load(tmp_path).judgments()


def test_datasets_are_those_of_the_tables_and_no_removed_ones(tmp_path: Path) -> None:
    rows = [
        {"dataset": "news", "judge": "j", "statistic": "coverage", "value": 1.0, "n": 1}
    ]
    write_table(
        "results", table_of("results", rows), tmp_path / "tables" / "coverage.parquet"
    )
    for name in ("news", "removed"):
        (tmp_path / "items").mkdir(exist_ok=True)
        (tmp_path / "items" / f"{name}.parquet").touch()
    assert js.load(tmp_path).datasets == ("news",)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="this folder has no result tables"):
        js.load(tmp_path)


@pytest.mark.heavy
def test_importing_the_library_imports_no_package_and_a_job_no_pandas() -> None:
    code = (
        "import sys, judgescope as js; "
        "heavy = {'numpy', 'scipy', 'pyarrow', 'pandas', 'snakemake', 'msgspec'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); "
        "assert 'load' in dir(js) and not hasattr(js, 'nothing'); "
        "js.load, js.agreement; "
        "assert {'pandas', 'snakemake', 'pydantic'} & set(sys.modules) == {'pandas'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")


@pytest.mark.heavy
def test_no_job_but_those_of_pages_imports_pandas() -> None:
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "from judgescope.plan.jobs import JOBS\n"
        "pages, training = ('tables', 'report', 'judge_card', 'spotcheck'), "
        "'distill.training.train'\n"
        "for name, module in JOBS.items():\n"
        "    if name not in pages and module != training:  # the latter needs torch\n"
        "        import_module(f'judgescope.{module}')\n"
        "        assert 'pandas' not in sys.modules, name\n"
        "assert JOBS.keys() >= {*pages}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")


@pytest.mark.slow
def test_the_summary_has_the_deciding_number_of_each_claim(
    results: StudyResults,
) -> None:
    summary = results.summary()
    columns = ["dataset", "judge", "aspect"]
    assert not summary.duplicated(columns).any() and len(summary) > 40
    verdicts = results.verdicts.query("form == 'agreement'").fillna({"note": ""})
    for _, row in summary.iterrows():
        claim = verdicts
        for name in columns:
            claim = claim[claim[name] == row[name]]
        by_statistic = claim.set_index("statistic")
        assert by_statistic.loc["verdict", "note"].split("; ")[0] == row["outcome"]
        assert by_statistic.loc["sign", "note"] == row["sign"]
        assert by_statistic.loc["verdict", "n"] == row["n"]
        if row["value"] == row["value"]:
            assert by_statistic.loc[row["statistic"], "value"] == row["value"]
        if row["rival"]:
            assert by_statistic.loc["rival", "note"] == row["rival"]
    named = summary[summary["rival_value"].notna()]
    assert len(named) > 5 and (named["rival"] != "").all()


@pytest.mark.slow
def test_a_notebook_shows_the_summary(results: StudyResults) -> None:
    shown = results._repr_html_()
    assert shown.count("<tr") == len(results.summary()) + 1
    assert "demo-news" in shown and "rival_value" in shown


def test_the_summary_has_peoples_number_and_claims_of_labels() -> None:
    def row(judge: str, statistic: str, value: float | None, note: str) -> list[object]:
        return ["d", judge, "a", statistic, "pooled", value, None, None, 9, note]

    columns = ["dataset", "judge", "aspect", "statistic", "level"]
    columns += ["value", "ci_low", "ci_high", "n", "note"]
    rows = [
        row("m", "balanced_accuracy", 0.8, ""),
        row("m", "verdict", 2, "better; length"),
        row("m", "sign", 2, "~"),
        row("m", "rival", 0.01, "chance"),
        row("m", "rival_value", 0.5, ""),
        row("other", "verdict", None, "the judge sees a rating of the text"),
        row("other", "sign", 0, "-"),
    ]
    verdicts = pd.DataFrame(rows, columns=columns).assign(form="labels")
    people = [row("human", "balanced_accuracy", 0.9, "")]
    tables = {"verdicts": verdicts, "labels": pd.DataFrame(people, columns=columns)}
    of_judge, of_other = summary_of(tables).to_dict("records")
    assert (of_judge["outcome"], of_judge["reasons"]) == ("better", "length")
    assert (of_judge["value"], of_judge["people"]) == (0.8, 0.9)
    assert (of_judge["rival"], of_judge["rival_value"]) == ("chance", 0.5)
    assert of_other["outcome"] == "no_claim" and "sees a rating" in of_other["reasons"]
    assert of_other["value"] != of_other["value"]
