"""The command `judgescope init`: a new study on a user's own table of texts and
ratings.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

from judgescope.cli.context import INTERRUPTED
from judgescope.cli.init import card_paths, cards, flags
from judgescope.cli.init.cards import NewCards, StudyDraft
from judgescope.cli.init.column_values import scale as scale_of
from judgescope.cli.init.exports import opened
from judgescope.cli.init.functions import id_of
from judgescope.cli.init.interview import AskPerson, interview, roles_of, unused
from judgescope.cli.init.open_readings import (
    UnclearColumns,
    check_numbers_clear,
    check_raters,
)
from judgescope.cli.init.rating_columns import ALL
from judgescope.cli.init.readings import JUDGE, PEOPLE, Certainty, readings_of
from judgescope.cli.init.roles import NOT_USED, rating_text
from judgescope.cli.init.tables import TableSource
from judgescope.cli.init.unread import beyond_scale
from judgescope.cli.new import write_beside_study, write_snakefile
from judgescope.cli.terminal import plain
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.data.rated import DatasetContent
from judgescope.schema.loading import Cards
from judgescope.statistics.intervals import FEWEST_SOURCES

_MOST_NAMED = 8
"""The most columns whose common reason names each of them."""


def init(args: argparse.Namespace) -> int:
    """Guess, ask, check, write, and print the next steps; write nothing unless all is
    valid.
    """
    if args.yes:
        return begin(args, None)
    if sys.stdin.isatty():
        try:
            return begin(args, input)
        except (EOFError, KeyboardInterrupt):
            print("\nNothing was written.")
            return INTERRUPTED
    if args.file is not None:  # the guesses show which options are needed
        print(described(_draft(args)), flush=True)
    raise UserError(
        "init asks questions, which need a terminal",
        where="judgescope init",
        todo="name the file and every column that was guessed wrong, and add --yes",
    )


def begin(args: argparse.Namespace, ask: AskPerson | None) -> int:
    """Make a study's cards; `ask` asks a person, without it flags and guesses are
    used.
    """
    if args.file is None and ask is not None:
        args.file = Path(ask("your table (CSV, TSV, JSONL or Parquet): ").strip())
    if args.file is None:
        raise UserError(
            "no table is named", where="judgescope init", todo="judgescope init FILE"
        )
    draft = _draft(args)
    if ask is None:
        print(described(draft), flush=True)
        _check_clear(draft)
        draft, new, data = _read(draft)
    else:
        accepted = _accepted(draft, ask)
        if accepted is None:
            print("Nothing was written.")
            return 1
        draft, new, data = accepted
    kind = "choices" if draft.columns.compared else "ratings"
    given = f"{len(data.preferences) or len(data.ratings)} {kind}"
    print(
        f"\na run will read: {len(data.outputs)} texts of {len(data.items)} items, "
        f"{given}"
    )
    for problem in [*data.problems, *_notes(data)]:
        print(f"  note: {plain(problem)}")
    yes = {"", "y", "yes"}
    if ask is not None and ask("write the cards? [yes]: ").strip().lower() not in yes:
        print("Nothing was written.")
        return 1
    is_new_folder = not card_paths.CONFIG.exists()
    for path in cards.write(draft, new, _comments(draft)):
        print(f"written: {path}")
    if is_new_folder:
        study_file = card_paths.card_path("study", draft.study)
        for path in write_beside_study(Path(), study_file):
            print(f"written: {path}")
    if write_snakefile(Path()):
        print("written: Snakefile")
    status = 0
    if args.probe and draft.endpoint is not None:
        from judgescope.cli.probe import probe_study

        print(flush=True)
        status = probe_study(card_paths.card_path("study", draft.study), [], write=True)
    print("\n".join(_next_steps(draft)))
    return status


def _check_clear(draft: StudyDraft) -> None:
    """Raise UnclearColumns, with the options of `init`, where a reading is open."""
    option_of_flag = {
        "human": "--rating",
        "judge": "--metric",
        "decimal": "--decimal",
    }
    try:
        check_raters(draft.table, draft.columns)
        check_numbers_clear(draft.table, draft.columns)
    except UnclearColumns as error:
        readings = []
        for reading in error.options:
            words = []
            for flag, values in reading.flags.items():
                for value in values:
                    words.append(f"{option_of_flag[flag]} {shlex.quote(value)}")
            readings.append(f"{' '.join(words)} ({reading.meaning})")
        error.todo = f"choose one: {'; '.join(readings)}"
        raise


def _comments(draft: StudyDraft) -> Iterator[str]:
    """Yield lines on how the columns were read, for people who change the card."""
    yield f"How `judgescope init` read {plain(draft.table.file.name)}:"
    for name, value in facts_of(draft):
        if value != "-":
            text = f"{name}: {value}" if value else name
            yield from wrap(text, 84, initial_indent="  ", subsequent_indent="    ")


def _draft(args: argparse.Namespace) -> StudyDraft:
    card_files = Cards([card_paths.CONFIG, HOME / "config"])
    return flags.draft_of(args, opened(args.file, card_files, TableSource.of(args)))


def _accepted(
    draft: StudyDraft, ask: AskPerson
) -> tuple[StudyDraft, NewCards, DatasetContent] | None:
    """Return the study that a person accepts and a run can read; None if the person
    quits.
    """
    while (changed := interview(draft, ask)) is not None:
        try:
            return _read(changed)
        except (UserError, UserErrors) as error:
            print(error)
            draft = changed
    return None


def _read(draft: StudyDraft) -> tuple[StudyDraft, NewCards, DatasetContent]:
    """Return the study, its new cards, and the data as a run reads them.

    Raises UserError or UserErrors if they cannot be used.
    """
    card_paths.new_study(draft.study)
    draft = flags.completed(draft)
    flags.check_complete(draft)
    table, columns = draft.table.readable(draft.columns)
    draft = replace(draft, table=table, columns=columns)
    new = cards.cards_of(draft)
    cards.check_new(draft, new)
    return draft, new, cards.tried(draft, new)


def _notes(rated: DatasetContent) -> Iterator[str]:
    """Yield the reasons why intervals will be wrong or impossible."""
    items = len(rated.items)
    sources = {item.source for item in rated.items if item.source}
    if items < FEWEST_SOURCES:
        yield (
            f"{items} items: intervals need at least {FEWEST_SOURCES}, and numbers "
            "without intervals are weak evidence"
        )
    if 0 < len(sources) < items:
        yield (
            f"{items} items, but only {len(sources)} different sources: texts of one "
            "source should share an item (--item), otherwise intervals are too narrow"
        )


def described(draft: StudyDraft) -> str:
    """Return how each column is interpreted, a line for each role."""
    facts = (f"  {name:<12}{value}" for name, value in facts_of(draft))
    return "\n".join([draft.table.title, *facts])


def facts_of(draft: StudyDraft, option: str = "--rating") -> Iterator[tuple[str, str]]:
    """Yield a role or kind of column, and the columns that have it.

    `option` names columns of ratings: columns without a known aspect may be those of
    raters.
    """
    columns = draft.columns
    for role in roles_of(columns):
        names = columns.columns_of(role)
        if role == "system" and columns.anonymous:
            names = []
        # Only missing lengths are lost: without a text there is nothing to judge.
        lengths = names if role in ("length", "lengths") else ()
        total = len(draft.table.rows)
        how = []
        for name, missing in draft.table.missing_cells(lengths).items():
            how.append(f"{name}: {missing} of {total} missing")
        yield role, f"{plain(', '.join(names))}{_in_brackets(how)}" or "-"
    for name, group in columns.ratings.items():
        yield from _rating_facts(draft, name, group)
    for note in notes_on_raters(draft, option):
        yield "note", note
    for name, scores in columns.judges.items():
        named = plain(draft.judge_names[cards.recorded_id(name)])
        fact = _scores_fact(draft, scores)
        # A judge is often called as its one column.
        is_column = fact == named or fact.startswith(f"{named} (")
        yield "judge", fact if is_column else f"{named}: {fact}"
    if draft.function:
        file, name = draft.function
        yield "judge", plain(f"{id_of(draft.function)}: function {name} of {file}")
    yield "task", columns.task
    yield from _assumptions(draft, option)
    for note in draft.table.notes:
        yield "note", plain(note)
    yield from unused(draft)


def notes_on_raters(draft: StudyDraft, option: str) -> Iterator[str]:
    """Yield how aspects without cards are read as raters of one aspect, if any are."""
    columns = draft.columns
    single = len(columns.ratings) == len(columns.rated) > 1 and not columns.compared
    if single and columns.ratings.keys().isdisjoint(draft.table.aspects):
        raters = shlex.quote(rating_text(ALL, columns.rated))
        yield f"if these are raters of one aspect, add {option} {raters}"


def _assumptions(draft: StudyDraft, option: str) -> Iterator[tuple[str, str]]:
    """Yield why columns have their roles: by their headers, by flags, or assumed, with
    the flag that changes it.

    option: names columns of people's ratings.
    """
    clear: dict[str, list[str]] = {}
    assumed: dict[tuple[str, str], list[str]] = {}
    for reading in readings_of(draft):
        if reading.role == NOT_USED:
            continue
        if reading.grade == Certainty.ASSUMED:
            key = (reading.role, reading.why)
            assumed.setdefault(key, []).append(reading.column)
        else:
            clear.setdefault(reading.why, []).append(reading.column)
    largest = max(clear.values(), key=len, default=[])
    for why, group in clear.items():
        names = ", ".join(group)
        if group is largest and len(group) > _MOST_NAMED:
            # A list of all headers would hide the columns whose reason is another.
            others = "the other" if len(clear) > 1 or assumed else "all"
            names = f"{others} {len(group)} columns above"
        yield "why", plain(f"{names}: {_of_several(why, group)}")
    flag_of_side = {PEOPLE: option, JUDGE: "--judge"}
    whose = {PEOPLE: "people's ratings", JUDGE: "a judge's scores"}
    for (role, why), group in assumed.items():
        flag = flag_of_side.get(role, f"--{role}")
        verb = "is taken as" if len(group) == 1 else "are taken as"
        assumption = f"{', '.join(group)} {verb} {whose.get(role, f'the {role}')}"
        because = _of_several(why, group)
        yield "Assumed:", plain(f"{assumption}, because {because}; {flag} changes it")


def _of_several(why: str, columns: Sequence[str]) -> str:
    """Return why columns have their role, for one column or for several."""
    if len(columns) == 1:
        return why
    plurals = {
        "its header says": "their headers say",
        "its header may name": "their headers may name",
        "its header names": "their headers name",
        "its header is": "their headers are",
        "it tells": "they tell",
        "it has": "they have",
    }
    for single, several in plurals.items():
        if why.startswith(single):
            return f"{several}{why.removeprefix(single)}"
    return why


def _rating_facts(
    draft: StudyDraft, aspect: str, group: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the scale of an aspect's ratings, and how many are missing."""
    table = draft.table
    scale = draft.scales.get(aspect)
    kind = "rating"
    how = []
    if draft.columns.compared:
        kind = "choice"
    else:
        if scale:
            how.append(f"scale {flags.scale_text(scale)}")
        how.append(table.described(group))
    for column, missing in table.missing_cells(group).items():
        named = f"{plain(column)}: " if len(group) > 1 else ""
        how.append(f"{named}{missing} of {len(table.rows)} {kind}s missing")
    name = plain(cards.shown_aspect(draft, aspect))
    yield kind, f"{name}: {plain(', '.join(group))}{_in_brackets(how)}"
    if not draft.columns.compared and scale == scale_of(table.values(group)):
        outside = beyond_scale(table, group)
        if outside:
            yield "note", plain(outside)


def _scores_fact(draft: StudyDraft, scores: Mapping[str, str]) -> str:
    """Return the columns of a judge's scores, with their aspects."""
    kind = "choices" if draft.columns.compared else "scores"
    shown = []
    for aspect, column in scores.items():
        how = []
        if aspect != "*":
            how = [cards.shown_aspect(draft, aspect)]
        for missing in draft.table.missing_cells([column]).values():
            how.append(f"{missing} of {len(draft.table.rows)} {kind} missing")
        shown.append(f"{column}{_in_brackets(how)}")
    return plain(", ".join(shown))


def _in_brackets(parts: Sequence[str]) -> str:
    return f" ({'; '.join(parts)})" if parts else ""


def _next_steps(draft: StudyDraft) -> Iterator[str]:
    study = card_paths.card_path("study", draft.study)
    endpoint = draft.endpoint
    judged = draft.judges or draft.columns.judges or draft.replies or draft.function
    if endpoint is None and not judged:
        yield (
            "The study has no LLM judge yet, only metrics and controls. Add a judge "
            "card to the"
        )
        yield (
            "study's `judges`; `judgescope init` with --endpoint and --model writes "
            "one."
        )
    yield "\nnext:"
    keys = endpoint.card if endpoint else {}
    for key in ("api_key_env", "proxy_auth_env"):
        if keys.get(key):
            yield f"  export {keys[key]}=…          # the value itself is never saved"
    yield f"  judgescope check {study}    # counts and prices the requests, sends none"
    sends = "sends requests, "
    if endpoint is None and not draft.judges:
        sends = ""
    yield f"  judgescope run {study}      # {sends}computes, writes the report"
    yield f"  judgescope show {study}     # prints the numbers"
