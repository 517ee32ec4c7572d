"""Replies and scores that already exist: rows of files, joined to the targets they
judge.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import permutations, product

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import slug
from judgescope.engines.base import Answer, EngineInputs, Subject
from judgescope.engines.recorded_files import REPLY, RecordedFiles
from judgescope.engines.recorded_joins import MIN_JOINED, Join
from judgescope.engines.recorded_rows import (
    Key,
    Row,
    Table,
    normal_text,
    shown_key,
    subject_keys,
)
from judgescope.engines.recorded_values import recorded_draws
from judgescope.schema.cards import ASPECT, Judge, RatingScale, RecordedModel
from judgescope.schema.cards.engines import Engine

MAX_NAMED = 3
"""A notice names at most this many unmatched rows or texts, and as many errors are
shown."""

SubjectPair = tuple[Subject, Subject]
"""The two texts of a comparison, in the order in which they were shown."""


@dataclass
class _Matches:
    """What rows and texts of a judge and aspect were joined so far."""

    table: Table
    keys: dict[str, Key] = field(default_factory=dict)
    used: set[Key] = field(default_factory=set)
    missing: dict[str, None] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)
    sure: str | None = None
    """The column of confidences, if there is one."""
    chances: set[float] = field(default_factory=set)
    """The different confidences so far."""

    def add(
        self, name: str, key: Key, draws: Sequence[Answer], *, joined: bool
    ) -> None:
        """Note where a text's answers stand; a text without a row is missing."""
        self.keys[name] = key
        if joined:
            self.used.add(key)
        else:
            self.missing[name] = None
        if any(answer.status == "ok" for answer in draws):
            self.scored.add(name)
        for answer in draws:
            if answer.confidence and answer.confidence.chance is not None:
                self.chances.add(answer.confidence.chance)


class RecordedEngine:
    """Answers from files; expects all targets of a dataset in one call.

    Rows are joined by target, by item (and system) or by text (and source and system).
    Items and systems match by their names in the data (`names`) or by their ids; texts
    match with white space normalised. If the card's `files` has a role with the name of
    a judge's form, that form reads its rows; all other forms read the role `data`.
    """

    def __init__(self, card: RecordedModel, inputs: EngineInputs) -> None:
        self.card = card
        self.dataset = inputs.dataset
        self.preferences = inputs.preferences
        self._files = RecordedFiles(card, inputs)
        self._keys_of = cache(partial(subject_keys, card.rows, inputs.names))
        self._matches: dict[tuple[str, str, str], _Matches] = {}
        self._changed: dict[str, None] = {}

    def answer(
        self, judge: Judge, aspect: str, scale: RatingScale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return the first `judge.draws` recorded draws of every subject.

        Raises UserError if a row matches two targets, if two rows match one target, and
        for a recorded score that is not a number.
        """
        matches = self._matches_on(judge, aspect)
        table = matches.table
        keyed = list[tuple[Key, tuple[Subject, ...]]]()
        for subject in subjects:
            keyed.append((self._key(table, aspect, (subject,)), (subject,)))
        _check_distinct(table, keyed)
        path = value_path(self.card, judge, aspect)
        words = words_of(judge, scale)
        sure = matches.sure = self._sure_path(judge, aspect)
        answers = []
        for key, (subject,) in keyed:
            rows = self._with_same_text(table.get(key, ()), subject)
            draws = recorded_draws(self.card.rows, rows, path, judge.draws, words, sure)
            answers.append(draws)
            matches.add(subject.target, key, draws, joined=bool(rows))
        return answers

    def compare(
        self, judge: Judge, aspect: str, subjects: Sequence[Subject]
    ) -> tuple[list[SubjectPair], list[list[Answer]]]:
        """Return the recorded comparisons of two texts of an item, and the draws of
        each.

        A pair is listed in each recorded order. A pair that people compared, but that
        has no row, is listed once, without an answer. Raises UserError for a row that
        matches two pairs.
        """
        matches = self._matches_on(judge, aspect)
        table = matches.table
        example: Key | None = None
        recorded = list[tuple[Key, SubjectPair]]()
        for pair in _orders(subjects):
            key = self._key(table, aspect, pair)
            example = example or key
            if key in table:
                recorded.append((key, pair))
        if example is None:
            raise UserError(
                "no item has two texts to compare",
                where=f"models/{self.card.model}.yaml, key rows; judge {judge.judge}",
                got=self.dataset,
            )
        _check_distinct(table, recorded)
        order_of_rows = {key: number for number, key in enumerate(table)}
        recorded.sort(key=lambda each: order_of_rows[each[0]])
        row_of = dict[tuple[str, str], Key]()
        pairs = list[SubjectPair]()
        for key, pair in recorded:
            row_of.setdefault(_name(pair), key)
            pairs.append(pair)
        pairs += self._unrecorded(aspect, subjects, row_of)
        answers = []
        for pair in pairs:
            row_key = row_of.get(_name(pair))
            rows = table[row_key] if row_key else ()
            draws = recorded_draws(self.card.rows, rows, REPLY, judge.draws)
            answers.append(draws)
            key = row_key or self._keys(aspect, pair)[0]
            matches.add(" ".join(_name(pair)), key, draws, joined=row_key is not None)
        if not pairs:
            matches.keys["the first pair"] = example
        return pairs, answers

    def _unrecorded(
        self,
        aspect: str,
        subjects: Sequence[Subject],
        recorded: Collection[tuple[str, str]],
    ) -> list[SubjectPair]:
        """Return the pairs that people compared and that no row is about, each once."""
        known = {subject.target: subject for subject in subjects}
        added = dict[tuple[str, str], SubjectPair]()
        for first, second in self.preferences.get(aspect, ()):
            listed = False
            for names in ((first, second), (second, first)):
                listed = listed or names in recorded or names in added
            if not listed and first in known and second in known:
                added[first, second] = (known[first], known[second])
        return list(added.values())

    def version(self, judge: Judge) -> str:
        """Return the sha256 of the judge's files, if it is on the card."""
        hashes = self.card.sha256
        roles = self._files.roles(self._role(judge))
        return " ".join(hashes[role] for role in roles if role in hashes)

    def joins(
        self, shared: Collection[str] = (), *, selected: bool = False
    ) -> list[Join]:
        """Return the join of every judge and aspect answered so far.

        `selected`: only some texts are judged, so rows about other texts are expected;
        `shared` names judges of whom that holds in any case.
        """
        joins = []
        for (judge, aspect, _), matches in self._matches.items():
            rows = sum(map(len, matches.table.values()))
            texts = len(matches.keys)
            scored = len(matches.scored)
            joined = sum(len(matches.table[key]) for key in matches.used)
            expected = rows
            if selected or judge in shared:
                expected = min(rows, texts)
            joins.append(
                Join(
                    model=self.card.model,
                    judge=judge,
                    aspect=aspect,
                    rows=rows,
                    rows_joined=joined,
                    texts=texts,
                    texts_joined=texts - len(matches.missing),
                    texts_scored=scored,
                    poor=joined < MIN_JOINED * expected or scored < MIN_JOINED * texts,
                    pairs=self.card.rows.compares,
                )
            )
        return joins

    def checked_joins(
        self, shared: Collection[str] = (), *, selected: bool = False
    ) -> list[Join]:
        """Return `joins`.

        Raises UserErrors if for a judge and aspect no row matches a target, or no
        matching row has a value.
        """
        unjoined = []
        unscored = []
        for (judge, aspect, role), matches in self._matches.items():
            if matches.used and not matches.scored:
                unscored.append(self._unscored(judge, aspect, matches.table))
            elif matches.keys and not matches.used:
                unjoined.append(self._unjoined(judge, aspect, role, matches))
            elif matches.sure and not matches.chances:
                unscored.append(self._unsure(judge, aspect, matches))
        errors = [*unjoined, *unscored]
        if errors:
            raise UserErrors(errors[:MAX_NAMED])
        return self.joins(shared, selected=selected)

    @property
    def notices(self) -> list[str]:
        """Return notices about unmatched rows and targets, changed texts and repeated
        rows.
        """
        missing = list[str]()
        for matches in self._matches.values():
            missing += matches.missing
        repeated = list[str]()
        for table in self._files.tables.values():
            for rows in table.values():
                repeated += [row.where for row in rows[1:]]
        problems = {
            "recorded rows that match no text": self._unmatched_rows(),
            "texts without a recorded row": missing,
            "recorded rows whose text differs from the dataset's": self._changed,
            "recorded rows that repeat a text": repeated,
        }
        lines = []
        for problem, places in problems.items():
            distinct = list(dict.fromkeys(places))
            if distinct:
                first = "; ".join(distinct[:MAX_NAMED])
                lines.append(
                    f"{self.card.model}: {problem}: {len(distinct)}, first {first}"
                )
        for (judge, aspect, _), matches in self._matches.items():
            if matches.chances and matches.chances <= {0.0, 1.0}:
                lines.append(
                    f"{self.card.model}: the confidence of {judge} in {aspect}, column "
                    f"{matches.sure}, is 0 or 1 throughout: verdicts look like that, "
                    "probabilities do not"
                )
            percent = self.card.rows.confidence_as == "percent"
            if percent and matches.chances and max(matches.chances) <= 1 / 100:
                lines.append(
                    f"{self.card.model}: the confidence of {judge} in {aspect}, column "
                    f"{matches.sure}, is at most 1 %: probabilities from 0 to 1 look "
                    "like that; leave out `confidence_as: percent`"
                )
        return lines

    def _unmatched_rows(self) -> Iterator[str]:
        """Yield the places of the rows that match no text of any judge."""
        used: dict[tuple[str, str], set[Key]] = defaultdict(set)
        for (_, aspect, role), matches in self._matches.items():
            used[aspect if self.card.rows.aspect else "", role] |= matches.used
        for (aspect, role), keys in used.items():
            for key, rows in self._files.rows_on(aspect, role).items():
                if key in keys:
                    continue
                for row in rows:
                    # These rows are in another notice.
                    if row.where not in self._changed:
                        yield row.where

    def _unjoined(
        self, judge: str, aspect: str, role: str, matches: _Matches
    ) -> UserError:
        names = self.card.rows
        table = matches.table
        where = (
            f"models/{self.card.model}.yaml, key rows; judge {judge}, aspect {aspect}"
        )
        all_rows = self._files.tables[role]
        if names.aspect and not table and all_rows:
            rows = [same[0] for same in all_rows.values()]
            return UserError(
                "no recorded row has this aspect",
                where=where,
                got=names.aspects.get(aspect, aspect),
                allowed={str(row.get(names.aspect)) for row in rows},
                todo=f"map it to a name in the rows (`aspects: {{{aspect}: …}}` under "
                "`rows`), or remove it from `aspects` in the judge's card",
            )
        shown = "no row of this dataset"
        if table:
            key = next(iter(table))
            where = f"{where}; {table[key][0].where}"
            shown = shown_key(names, key)
        return UserError(
            "no recorded row matches a text of the study",
            where=where,
            got=shown,
            allowed=f"such as {shown_key(names, next(iter(matches.keys.values())))}",
            todo="map other columns under `rows`, or spell names and texts as the "
            "dataset does",
        )

    def _unscored(self, judge: str, aspect: str, table: Table) -> UserError:
        names = self.card.rows
        row = next(iter(table.values()))[0]
        kind, key = ("score", "scores") if names.reply is None else ("reply", "reply")
        columns = ", ".join(f"{name}: {path}" for name, path in names.scores.items())
        return UserError(
            f"no matching recorded row has a {kind} for this aspect",
            where=f"models/{self.card.model}.yaml, key rows.{key}; judge {judge}, "
            f"aspect {aspect}; first: {row.where}",
            got=names.reply or columns,
            todo=f"name the column with its {kind}s, or remove the aspect from "
            "`aspects` in the judge's card",
        )

    def _unsure(self, judge: str, aspect: str, matches: _Matches) -> UserError:
        """Return the error for scores none of which has a confidence."""
        row = next(iter(matches.table.values()))[0]
        return UserError(
            "no recorded score has a confidence",
            where=f"models/{self.card.model}.yaml, key rows.confidence; judge {judge}, "
            f"aspect {aspect}; first: {row.where}",
            got=f"column {matches.sure}: empty in {len(matches.scored)} rows",
            todo="name the column with the confidences, or leave the aspect out of "
            "`confidence`",
        )

    def _with_same_text(self, rows: Sequence[Row], subject: Subject) -> Sequence[Row]:
        """Return the rows; if joined by target, only those with the target's text."""
        names = self.card.rows
        if not rows or not (names.target and names.text):
            return rows
        same = []
        for row in rows:
            if normal_text(row.get(names.text)) == normal_text(subject.text):
                same.append(row)
        self._changed |= {row.where: None for row in rows if row not in same}
        return same

    def _keys(self, aspect: str, shown: tuple[Subject, ...]) -> list[Key]:
        """Return the possible keys of a row about a text, or about two in the order
        shown.
        """
        aspect = slug(aspect) if self.card.rows.aspect else ""
        possible = list[Key]()
        for key, *others in product(*(self._keys_of(aspect, text) for text in shown)):
            # A key begins with the aspect, which is that of both texts.
            for other in others:
                key += other[1:]
            possible.append(key)
        return possible

    def _key(self, table: Table, aspect: str, shown: tuple[Subject, ...]) -> Key:
        keys = self._keys(aspect, shown)
        return next((key for key in keys if key in table), keys[0])

    def _matches_on(self, judge: Judge, aspect: str) -> _Matches:
        names = judge.judge, aspect, self._role(judge)
        if names not in self._matches:
            self._matches[names] = _Matches(self._files.rows_on(aspect, names[2]))
        return self._matches[names]

    def _role(self, judge: Judge) -> str:
        if judge.form in self.card.files:
            return judge.form
        return "data"

    def _sure_path(self, judge: Judge, aspect: str) -> str | None:
        """Return the column or JSON path of the confidence in its scores, or None."""
        columns = self.card.rows.confidence
        path = columns.get(aspect) or columns.get("*")
        if judge.confidence is not None or path is None:
            return None  # the judge's card says that it is read elsewhere, or nowhere
        name = self.card.rows.scores.get(aspect, "")
        return path.replace("{form}", judge.form).replace(ASPECT, name)


def value_path(card: RecordedModel, judge: Judge, aspect: str) -> str | None:
    """Return the column or JSON path of a judge's replies or scores, or None."""
    names = card.rows
    for_aspect = names.scores.get(aspect)
    for_all = names.scores.get("*")
    if names.reply is None and ASPECT in judge.form:
        return for_aspect and judge.form.replace(ASPECT, for_aspect)
    path = names.reply or (for_all if judge.form and for_all else for_aspect or for_all)
    return path and path.replace("{form}", judge.form)


def words_of(judge: Judge, scale: RatingScale) -> list[str]:
    """Return the labels that a judge's scores may be; none where they are numbers."""
    if scale.categorical and judge.threshold is None:
        return [*scale.labels, *judge.read_as]
    return []


def _name(pair: SubjectPair) -> tuple[str, str]:
    return pair[0].target, pair[1].target


def _orders(subjects: Sequence[Subject]) -> Iterator[SubjectPair]:
    """Yield every two texts of an item, in both orders."""
    items: dict[str, list[Subject]] = {}
    for subject in subjects:
        items.setdefault(subject.item, []).append(subject)
    for texts in items.values():
        yield from permutations(texts, 2)


def _check_distinct(
    table: Table, keyed: Iterable[tuple[Key, tuple[Subject, ...]]]
) -> None:
    """Raise UserError if a row matches two targets that differ in text or source.

    Two pairs of texts may have the same row if their sources are equal.
    """
    first: dict[Key, tuple[Subject, ...]] = {}
    for key, shown in keyed:
        other = first.setdefault(key, shown)
        if key not in table or other is shown:
            continue
        pair = len(shown) == 2
        texts = set[tuple[str, str]]()
        for each in (other[0], shown[0]):
            texts.add(
                (normal_text(each.source), "" if pair else normal_text(each.text))
            )
        if len(texts) == 1:
            continue
        targets = []
        for subjects in (other, shown):
            targets.append(", ".join(subject.target for subject in subjects))
        raise UserError(
            f"a recorded row matches two {'pairs of texts' if pair else 'targets'}",
            where=table[key][0].where,
            got=" and ".join(targets),
            todo="map the column that distinguishes them under `rows`: "
            f"{'item' if pair else 'system'} or source",
        )


build = RecordedEngine
ENGINE = Engine(name="recorded", card=RecordedModel, build=build, compares_forms=True)
