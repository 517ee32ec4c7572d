"""Result tables as LaTeX: what stands where, and that nothing in a name breaks a
document.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.cli.terminal import printed
from judgescope.core.errors import UserError
from judgescope.extensions.export.export import _check_current
from judgescope.extensions.export.tables import WRITERS, document, escaped, tables_of
from judgescope.report.report import Report
from judgescope.statistics.result import REASONS

Row = dict[str, Any]
NASTY = 'a_b%c&d#e$f{g}h~i^j\\k <l> "m" `n` [o] | p\nq\x00\u202e'
PLAIN = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "char34": '"',
    "char96": "`",
}


def rows(*numbers: tuple[str, str, float | None], **more: Any) -> list[Row]:
    where = {"level": "pooled", "n": 118}
    return [
        {**study.row("chat", judge, "spearman", value, aspect=aspect, **where), **more}
        for judge, aspect, value in numbers
    ]


def report_of(folder: Path, tables: dict[str, list[Row]], **changes: Any) -> Report:
    return study.loaded(study.make(folder, tables, **changes))


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of every row between the rules, read as LaTeX reads them.

    Asserts that braces are in pairs, that environments end in order, and that no
    character is left that LaTeX would take for more than text.
    """
    depth, opened, result = 0, list[str](), list[list[str]]()
    inside = re.sub(r"\$(\\[A-Za-z]+|-)\$", "", text.partition("\n")[2])
    for command, brace, plain in re.findall(
        r"(\\(?:[A-Za-z]+|.))|([{}])|([^\\{}]+)", inside
    ):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        assert depth >= 0 and command != "\\\n" and not re.search(r"[$%#~^_]", plain), (
            plain
        )
    assert depth == 0
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", inside):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    for columns, body in re.findall(
        r"\\begin{tabular}{(l?r*)}(.*?)\\end{tabular}", inside, re.S
    ):
        cells = [re.split(r"(?<!\\)&", line) for line in body.split(" \\\\\n")[:-1]]
        assert {len(each) for each in cells} == {len(columns)}
        result += [
            [re.sub(r"\s*\\\w+rule\s*", "", cell).strip() for cell in entry]
            for entry in cells
        ]
    return result


def unescaped(text: str) -> str:
    """Return what LaTeX prints of an escaped text."""
    text = re.sub(
        r"\\([a-z]+\d*)\{\}", lambda result: PLAIN.get(result[1], result[0]), text
    )
    text = text.replace("$\\langle$", "⟨").replace("$\\rangle$", "⟩")
    return re.sub(r"\\([&%$#_{}])", r"\1", text)


def test_a_text_is_printed_as_it_is() -> None:
    assert unescaped(escaped(NASTY)) == (
        'a_b%c&d#e$f{g}h~i^j\\k <l> "m" `n` [o] | p q⟨U+0000⟩⟨U+202E⟩'
    )
    assert escaped("−0.5\u202f% of ρ – κ") == "$-$0.5\\,\\% of $\\rho$ -- $\\kappa$"


def test_value_interval_letters_and_notes_stand_in_their_cells(tmp_path: Path) -> None:
    result = rows(
        ("alpha", "fluency", 0.5),
        ("alpha", "coherence", None),
        ("random", "fluency", 0.1),
    )
    result[0] |= {"n_missing": 2, "note": "warning: below control length (0.600)"}
    ranks = [
        {**result[0], "statistic": "rank_spearman", "value": 1.0, "note": "group ab"}
    ]
    report = report_of(tmp_path, {"agreement": result, "comparison": ranks})
    text = document(report, tables_of(report, "agreement", {"statistic": ["spearman"]}))
    assert table_rows(text) == [
        ["Judge", "Fluency", "Coherence"],
        [
            "\\texttt{alpha}",
            "0.500 {\\scriptsize [0.400, 0.600]}\\textsuperscript{ab,\\dag{},1}",
            "--\\textsuperscript{2}",
        ],
        [
            "\\texttt{random}",
            "0.100 {\\scriptsize [0.000, 0.200]}",
            "--\\textsuperscript{3}",
        ],
    ]
    assert "\\textsuperscript{1} 2 missing, n = 118." in text
    assert "\\textsuperscript{2} undefined: constant judge." in text
    assert "\\textsuperscript{3} not planned." in text
    assert "all targets pooled, with 95 \\% intervals. n = 118." in text
    assert "share a letter" in text and "\\dag{} below at least one control" in text
    assert "\\label{tab:tiny-agreement-chat-spearman-pooled}" in text


def test_results_on_two_judges_are_exported_both_ways_round(tmp_path: Path) -> None:
    content = {"level": "pooled", "n": 118, "aspect": "fluency"}
    collected = [
        study.row("chat", judge, f"{kind}_spearman", 0.3, judge_b=other, **content)
        for judge, other in (("alpha", "beta"), ("beta", "random"))
        for kind in ("difference", "p")
    ]
    report = report_of(tmp_path, {"comparison": collected})

    def written(statistic: str) -> str:
        wanted = {"judge_b": ["beta"], "statistic": [statistic]}
        return document(report, tables_of(report, "comparison", wanted))

    turned = "\\texttt{random} & $-$0.300 {\\scriptsize [$-$0.400, $-$0.200]}"
    assert "\\texttt{alpha} & 0.300" in (text := written("difference_spearman"))
    assert turned in text
    assert "\\texttt{random} & 0.3 " in written("p_spearman")


def test_n_of_a_mean_counts_what_its_method_names(tmp_path: Path) -> None:
    result = rows(
        ("alpha", "average", 0.3), n=2, method="mean over datasets; jackknife-t"
    )
    report = report_of(tmp_path, {"agreement": result})
    assert "n = 2 datasets behind an average." in document(
        report, tables_of(report, "agreement", {})
    )
    result[0] |= {"n": 1, "method": "mean over aspects"}
    report = report_of(tmp_path, {"agreement": result})
    assert "n = 1 aspect behind an average." in document(
        report, tables_of(report, "agreement", {})
    )


def test_results_of_another_seed_or_of_other_judges_are_not_exported(
    tmp_path: Path,
) -> None:
    def check(judges: list[str], seed: int) -> None:
        collected = [
            study.row("chat", judge, "coverage", 1.0) for judge in ("alpha", "random")
        ]
        collected[0]["signature"] = "judge:alpha|seed:7|v:1"
        changes = {"study": {"judges": judges, "seed": seed}}
        _check_current(
            report_of(tmp_path, {"coverage": collected}, **changes), Path("s.yaml")
        )

    check(["alpha", "random"], 7)
    for judges, seed in (
        (["alpha", "random"], 8),
        (["alpha"], 7),
        (["alpha", "random", "b"], 7),
    ):
        with pytest.raises(UserError, match="an earlier state of the study"):
            check(judges, seed)


def test_agreement_of_a_judge_that_is_given_the_rating_is_reported_to_be_none(
    tmp_path: Path,
) -> None:
    result = rows(
        ("alpha", "fluency", 0.9), note=f"hint: right; {REASONS.no_agreement}"
    )
    report = report_of(tmp_path, {"agreement": result})
    assert f"\\textsuperscript{{1}} {REASONS.no_agreement}" in document(
        report, tables_of(report, "agreement", {})
    )


@pytest.mark.parametrize(
    ("level", "n", "warned"),
    [("by_system", 7, True), ("by_system", 8, False), ("pooled", 7, False)],
)
def test_a_correlation_of_fewer_than_8_systems_says_so(
    tmp_path: Path, level: str, n: int, warned: bool
) -> None:
    result = rows(("alpha", "fluency", 0.5), level=level, n=n)
    report = report_of(tmp_path, {"agreement": result})
    text = document(report, tables_of(report, "agreement", {}))
    assert ("fewer than 8" in text) == warned
    undefined = rows(("alpha", "fluency", None), level=level, n=n)
    report = report_of(tmp_path, {"agreement": undefined})
    assert "fewer than 8" not in document(report, tables_of(report, "agreement", {}))


def test_controls_stand_below_a_line(tmp_path: Path) -> None:
    result = rows(("random", "fluency", 0.1), ("alpha", "fluency", 0.5))
    report = report_of(tmp_path, {"agreement": result})
    text = document(report, tables_of(report, "agreement", {}))
    assert (
        text.index("\\texttt{alpha}")
        < text.rindex("\\midrule")
        < text.index("\\texttt{random}")
    )
    assert "Below the line: controls." in text
    assert "share a letter" not in text and "\\dag{}" not in text


def test_nothing_in_a_name_breaks_a_table(tmp_path: Path) -> None:
    result = rows(("alpha", "fluency", 0.5), (NASTY, "fluency", None), note=NASTY)
    names = {"datasets": {"chat": {"name": NASTY}}, "aspects": {"fluency": NASTY}}
    report = report_of(tmp_path, {"agreement": result}, **names)
    text = document(report, tables_of(report, "agreement", {}))
    heads, _, odd = table_rows(text)
    assert heads[1] == re.sub(r"\$\\[a-z]+\$", "", escaped(NASTY))
    assert odd[0] == f"\\texttt{{{heads[1]}}}"


@pytest.mark.heavy
def test_perturbations_stand_across_where_all_numbers_have_a_single_aspect(
    tmp_path: Path,
) -> None:
    result = study.loaded(study.make(tmp_path))
    wanted = {"dataset": ["news"], "statistic": ["p_holm"], "aspect": ["fluency"]}
    tables = tables_of(result, "discernment", wanted)
    [table] = tables.values()
    assert [column.text for column in table.columns] == [
        "typos minor",
        "typos major",
        "cuts",
    ]
    text = document(result, tables)
    assert "(aspect Fluency)" in text and table_rows(text)[0][0] == "Judge"


def test_a_table_per_dataset_statistic_and_level_in_the_order_that_is_asked(
    tmp_path: Path,
) -> None:
    result = study.loaded(study.make(tmp_path))
    wanted = {
        "statistic": ["spearman", "kendall_b"],
        "dataset": ["news"],
        "aspect": ["fluency"],
    }

    levels = ["pooled", "by-source", "by-system"]
    names = [
        f"{name}-{level}" for name in ("spearman", "kendall-b") for level in levels
    ]
    text = document(result, tables_of(result, "agreement", wanted))
    labels = re.findall(r"\\label{tab:(.*)}", text)
    assert labels == [f"tiny-agreement-news-{name}" for name in names]
    assert text == document(result, tables_of(result, "agreement", wanted))


def test_what_is_missing_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    result = study.loaded(study.make(tmp_path))
    for table, wanted, where, nearest in (
        ("agrement", {}, "table", "agreement"),
        ("agreement", {"statistic": ["spermann"]}, "--statistic", "spearman"),
        (
            "agreement",
            {"statistic": ["spearman"], "level": ["polled"]},
            "--level",
            "pooled",
        ),
    ):
        with pytest.raises(UserError) as caught:
            tables_of(result, table, wanted)
        assert (caught.value.where, caught.value.nearest()) == (where, nearest)
    with pytest.raises(UserError, match="several statistics"):
        tables_of(result, "agreement", {})


def test_choices_that_no_row_has_together_are_an_error(tmp_path: Path) -> None:
    result = rows(("alpha", "fluency", 0.5), ("beta", "fluency", 0.6))
    result.append({**result[0], "judge": "human", "statistic": "ceiling"})
    report = report_of(tmp_path, {"agreement": result})
    with pytest.raises(
        UserError, match="no row of agreement matches all filters"
    ) as caught:
        tables_of(report, "agreement", {"statistic": ["spearman"], "judge": ["human"]})
    assert caught.value.got == "--statistic spearman --judge human"
    assert caught.value.allowed == "--statistic ceiling; or --judge alpha, beta"


def test_an_interval_without_width_is_explained_given_one(
    tmp_path: Path,
) -> None:
    result = rows(("alpha", "fluency", 0.5), ("beta", "fluency", 0.6))
    for note, explained in (
        ("", False),
        ("no width: 98% of the resamples are equal", True),
    ):
        result[0]["note"] = note
        report = report_of(tmp_path / str(explained), {"agreement": result})
        text = document(report, tables_of(report, "agreement", {}))
        assert ("\\textdegree{} No width: " in text) == explained
        assert text.count("\\textdegree{}") == 2 * explained and ".." not in text
        assert len(table_rows(text)) == 3


def test_two_numbers_never_share_a_cell(tmp_path: Path) -> None:
    result = study.loaded(study.make(tmp_path))
    with pytest.raises(UserError, match="into one cell") as caught:
        tables_of(result, "discernment", {"statistic": ["difference_D_avg_exact"]})
    assert "judge_b" in str(caught.value) and "--judge-b" in caught.value.todo
    wanted = {"statistic": ["difference_D_avg_exact"], "judge_b": ["beta"]}
    assert "(against beta)" in document(
        result, tables_of(result, "discernment", wanted)
    )


def test_every_format_has_the_same_numbers(tmp_path: Path) -> None:
    """Text, interval, sign, note and caption of one table, wherever it is written."""
    result = rows(("alpha", "fluency", 0.5), ("random", "fluency", 0.1))
    result[0] |= {"n_missing": 2, "note": "warning: below control length (0.600)"}
    report = report_of(tmp_path, {"agreement": result})
    tables = tables_of(report, "agreement", {})
    [table] = tables.values()
    markdown, page = (WRITERS[suffix](report, tables) for suffix in (".md", ".html"))
    terminal = "\n".join(printed(table))
    for text in (markdown.replace("\\", ""), terminal, re.sub("<[^>]*>", " ", page)):
        line = next(line for line in text.splitlines() if "alpha" in line)
        for part in ("0.500", "[0.400, 0.600]", "†", "2 missing, n = 118"):
            assert part in line, text
        assert "all targets pooled, with 95 % intervals. n = 118." in text
        assert "† below at least one control." in text and "random" in text
        assert "control" in next(line for line in text.splitlines() if "random" in line)
        assert "Below the line" not in text
