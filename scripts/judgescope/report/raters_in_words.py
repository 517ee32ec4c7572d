"""Who gave the ratings of a dataset, in words: people, the authors' plan, or a model.

Only what people gave is called theirs; the other two give no ceiling, and never fill
the row of people.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class RatingSource:
    """The words for who gave ratings."""

    whom: str
    """With whom a judge agrees: `agrees with …`."""
    short: str
    """The same in a cell: `against …`."""
    whose: str
    """Whose ratings these are: `… ratings`."""
    label: str
    """Whose label a text has: `… label`."""
    mean: str
    """The rating of a text with the mean of its ratings."""
    preferred: str
    """What a judge picks, of two texts: `picks …`."""
    says: str
    """`… "pass"`: who labels a text, and the verb."""
    rated: str
    """Who rated the texts, as a clause."""
    gave: str
    """Who made the ratings: `… the ratings of 20 texts`."""
    deck: str
    """What is said of texts with these ratings alone: `20 texts, …`."""
    head: str
    """The head of a column or the name of an axis, with a capital."""
    agreement: str
    """What agreement with them means, in a caption."""
    nobody: str = ""
    """That nobody rated the texts, and who did; "" where people did."""
    no_ceiling: str = ""
    """The same in a cell of the row of people."""
    of_people: Mapping[str, str] = field(default_factory=dict)
    """Words for what people say -> those for what was said in their place."""

    @property
    def people(self) -> bool:
        """Whether people gave the ratings, so that they have a ceiling."""
        return not self.nobody

    def in_words(self, text: str) -> str:
        """Words on people's ratings as they are of ratings from this source.

        >>> SOURCES["planned"].in_words("33 more texts that people label")
        '33 more texts that the plan labels'
        """
        for words, own_words in self.of_people.items():
            text = text.replace(words, own_words)
        return text


PEOPLE: Final = RatingSource(
    whom="people",
    short="people",
    whose="people's",
    label="people's label",
    mean="mean rating",
    preferred="what people prefer",
    says="people say",
    rated="people rated the texts",
    gave="People gave",
    deck="rated by people",
    head="People",
    agreement="agreement with people's ratings",
)
PLAN: Final = RatingSource(
    whom="the authors' plan",
    short="the plan",
    whose="the planned",
    label="the planned label",
    mean="planned rating",
    preferred="the planned text",
    says="the authors' plan says",
    rated="authors planned the ratings",
    gave="Authors planned",
    deck="ratings planned by their authors",
    head="Plan",
    agreement="agreement with the quality planned by the authors, not with people",
    nobody=(
        "nobody rated these texts: their authors planned the ratings, so there is no "
        "ceiling"
    ),
    no_ceiling="planned by the authors: no ceiling",
    of_people={
        "agreeing with people on": "following the planned quality of",
        "that people label": "that the plan labels",
        "people's label": "the planned label",
        "people's rating": "the planned rating",
        "people's mean rating": "the planned rating",
        "that people and the judge prefer": "that the plan and the judge prefer",
        "as people do": "as planned",
        "that people mark": "that the plan marks",
    },
)
MODEL: Final = RatingSource(
    whom="the model that rated",
    short="the model",
    whose="the model's",
    label="the model's label",
    mean="the model's rating",
    preferred="what the model prefers",
    says="the model says",
    rated="a model rated the texts",
    gave="A model gave",
    deck="rated by a model",
    head="Model",
    agreement="agreement with ratings by a model, not with people",
    nobody=(
        "nobody rated these texts: a model gave the ratings, so there is no ceiling"
    ),
    no_ceiling="rated by a model: no ceiling",
    of_people={
        "agreeing with people on": "agreeing with the model that rated on",
        "that people label": "that the model labels",
        "people's label": "the model's label",
        "people's rating": "the model's rating",
        "people's mean rating": "the model's mean rating",
        "that people and the judge prefer": "that the model and the judge prefer",
        "as people do": "as the model does",
        "that people mark": "that the model marks",
    },
)
MIXED: Final = RatingSource(
    whom="the ratings",
    short="the ratings",
    whose="the given",
    label="the given label",
    mean="rating",
    preferred="the preferred text",
    says="the ratings say",
    rated="nobody rated the texts",
    gave="No person gave",
    deck="rated by nobody",
    head="Rated",
    agreement="agreement with ratings that people did not give",
    nobody="nobody rated these texts, so there is no ceiling",
    no_ceiling="no person: no ceiling",
    of_people=PLAN.of_people,
)
"""Of several datasets whose ratings are partly planned and partly a model's."""
SOURCES: Final = {"people": PEOPLE, "planned": PLAN, "model": MODEL, "none": PEOPLE}
"""Key `ratings` of a dataset's card -> its words."""


def source_of(sources: Iterable[RatingSource]) -> RatingSource:
    """The words for ratings of several datasets; people's where any are people's.

    >>> source_of([PLAN, PLAN]).whom, source_of([PLAN, PEOPLE]).whom
    ("the authors' plan", 'people')
    """
    given = list(sources)
    if not given or any(source.people for source in given):
        return PEOPLE
    if all(source is given[0] for source in given):
        return given[0]
    return MIXED
