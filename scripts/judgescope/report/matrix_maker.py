"""Makes the cells of a matrix of judges by questions, with its heads and people."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Final

from markupsafe import Markup

from judgescope.methods.claims import base
from judgescope.report import cell_words, drawing
from judgescope.report.cells import of_few
from judgescope.report.claims import FOUND, ReportedClaim, claims, worst_first
from judgescope.report.drawing import LOOKS, Axis, BesidePerson, Interval
from judgescope.report.elements import (
    MatrixCell,
    MatrixColumnHead,
    MatrixLine,
    joined_empty,
    page_of,
)
from judgescope.report.headline import PERSON
from judgescope.report.prices import ALL, free, price_in_words, price_per_1000
from judgescope.report.quality_blind import RULES_OF, Rule, turned_value
from judgescope.report.questions import (
    OTHER_TESTS,
    MatrixQuestion,
    group_note,
    lowered,
    question_of,
    section_of,
)
from judgescope.report.raters_in_words import RatingSource, source_of
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow, ends_of
from judgescope.report.standings import href_of, standings
from judgescope.report.sureness import sureness
from judgescope.report.words import (
    DASH,
    THOUSAND,
    brief,
    count,
    dollars,
    label,
    listed,
    plural,
)
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import Sign

RULES: Final = "Rules that ignore quality"
CHARACTERS: Final = {
    Sign.HOLDS: "●",
    Sign.RULE: "◐",
    Sign.NOT_SHOWN: "○",
    Sign.FAILS: "✕",
    Sign.NO_CLAIM: "–",
}


def kind_words(judge: ShownJudge) -> str:
    """What a judge is, in small type below its name."""
    if judge.hint:
        return "knows the ratings"
    if judge.planted:
        return f"{judge.about[0].upper()}{judge.about[1:]}"
    return judge.about


class MatrixMaker:
    """Makes the cells of the matrix of one report, of all its judges or of some."""

    def __init__(self, report: Report, judges: Sequence[ShownJudge] = ()) -> None:
        self.report = report
        self.standings = standings(report)
        self.judges = judges or self.standings.ranked
        asked = self.standings.folding.columns
        self.columns = [column for column in asked if any(self._claims(column))]
        self.several = {
            column: self.standings.counts(column) for column in self.columns
        }
        self.own_bars = any(column.rank == 0 for column in self.columns)
        costs = report.rows("cost")
        self.costs = costs
        self.priced = any(
            not free(rows) and price_per_1000(rows) != 0
            for name, rows in costs.by("judge").items()
            if name != ALL and name in self.standings.answers
        )

    # --- numbers beside the judges'

    def person(self, column: MatrixQuestion) -> ReportRow | None:
        """One rater's number of a column, against the others; None if there is none."""
        if not column.number or self.several[column]:
            return None
        dataset = column.dataset
        # Kind of claims -> the table in which a person's own number stands.
        table_of = {base.LABELS: "labels", base.PAIRS: "pairwise"}
        by_people = {each.id for each in self.report.rated}
        for claim in self._claims(column):
            dataset = claim.dataset
            if dataset not in by_people:
                continue
            table = table_of.get(claim.kind, "verdicts")
            rows = self.report.rows(table, dataset).where(
                judge=PERSON.id, statistic=column.number, judged=claim.row.judged
            )
            for row in rows.defined:
                if row.level == claim.row.level:
                    return row
        return None

    def rule(self, column: MatrixQuestion, rule: Rule) -> float | None:
        """The number of a rule in a column; None where it has none.

        It is its control's, else the rival's of a claim that was tested against it.
        """
        if not column.number or self.several[column]:
            return None
        control = self._control_claim(column, rule)
        if control is not None and control.row.value is not None:
            return turned_value(column.number, control.row.value, turned=rule.turned)
        wanted = base.BREVITY if rule.turned else rule.control
        for claim in self._claims(column):
            rival = claim.others.get("rival")
            value = claim.others.get("rival_value")
            same = rival is not None and rival.note == wanted
            if same and value is not None and value.value is not None:
                return value.value
        return None

    def _control_claim(
        self, column: MatrixQuestion, rule: Rule
    ) -> ReportedClaim | None:
        """The claim of a rule's control in a column; None where it has no value."""
        for judge in self.report.plain_controls:
            if self.report.spec.judges[judge.id].form != rule.control:
                continue
            for claim in self.standings.of_column(judge, column):
                if claim.row.value is not None and claim.row.statistic == column.number:
                    return claim
        return None

    def _control(self, rule: Rule) -> str:
        """The page of a rule's control, "" where the study has none."""
        for judge in self.report.plain_controls:
            if self.report.spec.judges[judge.id].form == rule.control:
                return judge.card
        return ""

    def strongest_rule(self, column: MatrixQuestion) -> float | None:
        """The highest number of a rule in a column."""
        values = [self.rule(column, rule) for rule in RULES_OF]
        return max((value for value in values if value is not None), default=None)

    def _claims(self, column: MatrixQuestion) -> Iterable[ReportedClaim]:
        for judge in self.judges:
            yield from self.standings.of_column(judge, column)

    def drawn_values(self) -> Mapping[str, Sequence[float]]:
        """Statistic -> what is drawn of it in these lines: numbers, ends."""
        values: dict[str, list[float]] = {}
        for column in self.columns:
            if not column.number or self.several[column]:
                continue
            mine = values.setdefault(column.number, [])
            person = self.person(column)
            rows = []
            if person is not None:
                rows = [person]
            for claim in self._claims(column):
                if claim.row.statistic == column.number:
                    rows.append(claim.row)
                    against = cell_words.number_against_others(claim, person)
                    mine += [] if against is None else [against]
            for row in rows:
                mine += [end for end in row.ends if end is not None]
            rule = self.strongest_rule(column)
            mine += [] if rule is None else [rule]
        return values

    @property
    def axes(self) -> Mapping[str, Axis]:
        """Statistic -> the one axis of its cells on all pages of the report."""
        return axes_of(self.report)

    # --- cells

    def cell(self, judge: ShownJudge, column: MatrixQuestion) -> MatrixCell:
        """The cell of a judge in a column."""
        about = self.standings.of_column(judge, column)
        if not about:
            return MatrixCell(more=DASH, hidden="not asked", look="noclaim")
        if self.several[column]:
            return self._counted(judge, about)
        return self._single(judge, column, about[0])

    def _counted(self, judge: ShownJudge, about: Sequence[ReportedClaim]) -> MatrixCell:
        signs = [claim.sign for claim in about]
        value, more = cell_words.counted(about)
        return MatrixCell(
            value=value,
            more=more,
            hidden=cell_words.counted_hidden(about),
            href=href_of(self.report, judge, worst_first(about)[0]),
            drawn=drawing.strip(signs),
            look="counted",
            sort=float(value),
            mark="",
        )

    def _single(
        self, judge: ShownJudge, column: MatrixQuestion, claim: ReportedClaim
    ) -> MatrixCell:
        row = cell_words.number_row(claim)
        person = self.person(column)
        more = cell_words.second_line(self.report, claim)
        sign = claim.sign
        below = cell_words.against_others(claim, person)
        if more == cell_words.NO_PERSON:
            below = cell_words.beaten(claim)
        if claim.kind in FOUND and self.own_bars and row.value is not None:
            # The default bar of 90 % does not count beside a stated one.
            return MatrixCell(
                value=cell_words.value(claim),
                more=cell_words.spread(row),
                hidden=f"{cell_words.value(claim)}, {cell_words.spread(row)}, no bar",
                href=href_of(self.report, judge, claim),
                drawn=self._micro(column, claim),
                look="unshown",
                sort=row.value,
            )
        other = row.statistic not in (column.number, base.VERDICT)
        other = other and column.rank > 0  # the head of a bar names its number
        if other and row.value is not None and sign is not Sign.NO_CLAIM:
            # Another number than that of the column's head has its name.
            own_label = lowered(label(row.statistic))
            below = "; ".join(filter(None, (own_label, below)))
        return MatrixCell(
            value=cell_words.value(claim) if sign is not Sign.NO_CLAIM else "",
            more=more,
            below=below,
            hidden=cell_words.hidden(self.report, claim),
            href=href_of(self.report, judge, claim),
            sign=drawing.sign(sign),
            drawn=self._micro(column, claim),
            look=LOOKS[sign],
            sort=row.value,
            mark=CHARACTERS[sign],
        )

    def _micro(self, column: MatrixQuestion, claim: ReportedClaim) -> Markup:
        row = claim.row
        axis = self.axes.get(column.number)
        if axis is None or row.value is None or row.statistic != column.number:
            return Markup()
        if of_few(row) or claim.sign is Sign.NO_CLAIM:
            return Markup()
        person = self.person(column)
        rule = self.strongest_rule(column)
        shown = Interval(row.value, ends_of(row))
        against = cell_words.number_against_others(claim, person)
        ends = None
        if person is not None:
            ends = ends_of(person)
        # A person's band without the number that compares with it would stand beside
        # one that does not.
        beside = None
        if against is not None and ends is not None:
            beside = BesidePerson(ends, against)
        return drawing.micro(axis, claim.sign, shown, rule, beside)

    # --- lines

    def line(self, judge: ShownJudge) -> MatrixLine:
        """The line of a judge."""
        if judge.hint:
            cells = [
                MatrixCell(
                    more="told the right ratings, so its agreement shows nothing",
                    sign=drawing.sign(Sign.NO_CLAIM),
                    look="noclaim told",
                    span=len(self.columns),
                    hidden=drawing.SIGN_WORDS[Sign.NO_CLAIM],
                    mark=CHARACTERS[Sign.NO_CLAIM],
                )
            ]
        else:
            cells = [self.cell(judge, column) for column in self.columns]
        if self.priced:
            cells.append(self._price(judge))
        about = [kind_words(judge), sureness(self.report, judge)]
        words = "; ".join(each for each in about if each)
        return MatrixLine(judge.id, cells, words, judge.card)

    def _price(self, judge: ShownJudge) -> MatrixCell:
        rows = self.costs.where(judge=judge.id)
        if not len(rows):
            return MatrixCell(look="pc", hidden="no replies")
        price = price_per_1000(rows)
        text = "–"
        if price is not None:
            text = dollars(price)
        if free(rows):
            text = "free"
        return MatrixCell(
            text,
            hidden=price_in_words(rows),
            href=page_of("cost"),
            look="pc",
            sort=0.0 if free(rows) else price,
        )

    def people(self) -> MatrixLine:
        """The line of people: one rater against the others."""
        source = self._rated_by()
        if not source.people:
            cell = MatrixCell(more=source.nobody, look="na", span=len(self.columns))
            return MatrixLine("People", [*self._with_price([cell])])
        cells: list[MatrixCell] = []
        empty: list[str] = []
        raters = self.report.most_people
        for column in self.columns:
            row = self.person(column)
            if row is None:
                empty.append(self._no_person(column, raters))
                continue
            cells += joined_empty(empty)
            empty = []
            cells.append(self._person_cell(column, row))
        cells += joined_empty(empty)
        about = ""
        if raters > 1:
            about = f"one of {count(raters)}, against the others"
        return MatrixLine("People", [*self._with_price(cells)], about)

    def _datasets(self) -> list[ShownDataset]:
        """The datasets on which the judges of these lines have claims."""
        ids = set[str]()
        for column in self.columns:
            ids.update(claim.dataset for claim in self._claims(column))
        return [dataset for dataset in self.report.datasets if dataset.id in ids]

    def title(self) -> str:
        """What the judges of these lines were tested on."""
        datasets = self._datasets()
        names = listed([dataset.name for dataset in datasets])
        judges = plural(len(self.judges), "judge")
        return f"{judges} on {names}: {self._rated_by().rated}"

    def _rated_by(self) -> RatingSource:
        """The words for who rated the texts on which these judges have claims."""
        return source_of(dataset.rated_by for dataset in self._datasets())

    def _with_price(self, cells: Sequence[MatrixCell]) -> Iterable[MatrixCell]:
        yield from cells
        if self.priced:
            yield MatrixCell(look="pc", hidden="no price")

    def _no_person(self, column: MatrixQuestion, raters: int) -> str:
        if column.noun == "kinds of damage":
            return "people were not asked about damage"
        sources = {each.id: each.rated_by for each in self.report.datasets}
        if column.dataset and not sources[column.dataset].people:
            return sources[column.dataset].no_ceiling
        if column.rank in (1, 2, 3) and raters < 2:
            if raters:
                return "one person: no ceiling"
            return "no person: no ceiling"
        # From this rank on, questions are not about ratings or damage.
        further_rank = 5
        if column.rank >= further_rank:
            return "not measured for people"
        if self.several[column]:
            return "no single number"
        return "not measured"

    def _person_cell(self, column: MatrixQuestion, row: ReportRow) -> MatrixCell:
        axis = self.axes.get(column.number)
        drawn = Markup()
        ends = ends_of(row)
        if axis is not None and ends is not None:
            beside = BesidePerson(ends)
            drawn = drawing.micro(axis, Sign.HOLDS, None, beside=beside)
        # What is said of people on an aspect on which they do not agree with each
        # other.
        no_ceiling = "people do not agree: no ceiling"
        return MatrixCell(
            brief(row.statistic, row.value or 0.0),
            more=cell_words.spread(row),
            below=no_ceiling if self._apart(column) else "",
            drawn=drawn,
            sort=row.value,
            look="person-number",
        )

    def _apart(self, column: MatrixQuestion) -> bool:
        """Whether people do not agree with each other on the aspect of a column."""
        return any(base.NO_CEILING in claim.codes for claim in self._claims(column))

    def rules(self) -> list[MatrixLine]:
        """The lines of the rules that ignore quality."""
        lines = []
        labelled = any(column.number == "balanced_accuracy" for column in self.columns)
        for rule in RULES_OF:
            if rule.control == "most_frequent" and not labelled:
                continue
            values = [self.rule(column, rule) for column in self.columns]
            if all(value is None for value in values):
                continue
            cells = []
            for column, value in zip(self.columns, values, strict=True):
                text = ""
                if value is not None:
                    text = brief(column.number, value)
                drawn = None
                if rule.drawn:
                    drawn = self._control_claim(column, rule)
                ends = ""
                if drawn is not None:
                    ends = cell_words.spread(drawn.row)
                cells.append(
                    MatrixCell(text, more=ends, look="rule-number", sort=value)
                )
            href = self._control(rule)
            numbers = [*self._with_price(cells)]
            lines.append(MatrixLine(rule.name, numbers, rule.about, href))
        return lines

    # --- heads

    def heads(self) -> list[MatrixColumnHead]:
        """The heads of the columns; each leads to its section."""
        heads = []
        noted = {group for group, note, _ in self.groups() if note}
        for column in self.columns:
            group = column.group
            name = ""
            if column.number:
                name = lowered(label(column.number))
            own = group not in noted and name != lowered(column.title)
            heads.append(
                MatrixColumnHead(
                    self._title(column),
                    group,
                    section_of(self.report, column),
                    "counted" if self.several[column] else "single",
                    name if own else "",
                )
            )
        if self.priced:
            heads.append(
                MatrixColumnHead(f"US$ per {THOUSAND}", "", page_of("cost"), "pc")
            )
        return heads

    def _title(self, column: MatrixQuestion) -> str:
        """The title of a column: the tests that are counted in it, if they are few."""
        if column.group != OTHER_TESTS or not self.several[column]:
            return column.title
        titles = dict[str, None]()
        for claim in self._claims(column):
            titles[question_of(self.report, claim).title] = None
        most_named = 2
        if len(titles) > most_named:
            return column.title
        first, *others = titles
        return listed([first, *map(lowered, others)])

    def groups(self) -> list[tuple[str, str, int]]:
        """The headings above the columns, their numbers, and how many they span."""
        spans = Counter(column.group for column in self.columns)
        groups = []
        for group, number in spans.items():
            groups.append((group, group_note(self.columns, group), number))
        if self.priced:
            return [*groups, ("", "", 1)]
        return groups

    def shown(self, judges: Iterable[ShownJudge]) -> set[Sign]:
        """The signs that the lines of judges have, in cells and strips."""
        shown = set[Sign]()
        for judge in judges:
            for column in self.columns:
                about = self.standings.of_column(judge, column)
                shown.update(claim.sign for claim in about)
        return shown

    def signs(self, judges: Iterable[ShownJudge]) -> list[tuple[Markup, str]]:
        """The signs that occur in the lines of judges, and their words."""
        shown = self.shown(judges) - {Sign.NO_CLAIM}
        return [
            (drawing.sign(sign), words)
            for sign, words in drawing.SIGN_WORDS.items()
            if sign in shown
        ]

    def any_rule(self, name: str) -> bool:
        """Whether a cell of a number is drawn beside a rule."""
        mine = []
        for column in self.columns:
            if column.number == name:
                mine.append(column)
        return any(self.strongest_rule(column) is not None for column in mine)

    def any_person(self, name: str) -> bool:
        """Whether a person's number stands above the cells of a number."""
        mine = []
        for column in self.columns:
            if column.number == name:
                mine.append(column)
        return any(self.person(column) is not None for column in mine)

    @property
    def any_compared(self) -> bool:
        """Whether a claim that holds is compared with a person."""
        for column in self.columns:
            for claim in self._claims(column):
                compared = cell_words.gap_to_person(claim) is not None
                if compared and claim.sign is Sign.HOLDS:
                    return True
        return False


def makers_of(report: Report) -> list[MatrixMaker]:
    """The makers of a report's matrices, made once for all pages."""
    return report.once(
        "matrix makers",
        lambda: [MatrixMaker(report, judges) for judges in _groups(report)],
    )


def axes_of(report: Report) -> Mapping[str, Axis]:
    """Statistic -> the axis of all its cells, in tenths."""

    def made() -> Mapping[str, Axis]:
        values: dict[str, list[float]] = {}
        for maker in makers_of(report):
            for name, numbers in maker.drawn_values().items():
                values.setdefault(name, []).extend(numbers)
        axes = {}
        for name, of_number in values.items():
            if of_number:
                zero = 0.5 if statistic(name).kind == "percent" else 0.0
                ends = [*of_number, zero]
                low = floor(10 * min(ends)) / 10
                axes[name] = Axis(low, ceil(10 * max(ends)) / 10, zero)
        return axes

    return report.once("axes", made)


def _groups(report: Report) -> list[list[ShownJudge]]:
    """The judges that have claims, by what they share datasets with, in their order."""
    groups: list[tuple[set[str], list[ShownJudge]]] = []
    ranked = standings(report).ranked
    for judge in ranked:
        mine = {claim.dataset for claim in claims(report, judge)}
        if not mine:
            continue
        judges = [judge]
        separate = []
        for datasets, others in groups:
            if datasets & mine:
                mine |= datasets
                judges = [*others, *judges]
            else:
                separate.append((datasets, others))
        groups = [*separate, (mine, judges)]
    sorted_groups = [sorted(judges, key=ranked.index) for _, judges in groups]
    return sorted(sorted_groups, key=lambda judges: ranked.index(judges[0]))
