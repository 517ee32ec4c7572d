"""What a header says besides whose a column is and that it is a rating.

`human_score` and `judge_v2` say nothing more, `human_clarity` names what was rated.
`model_size`, `expert_years` and `judge_agreement` name something that is no rating,
although they have a word for a side.
"""

import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from judgescope.tables.raters import is_given_name, names_aspect
from judgescope.tables.words import classes_of, known_words, split_header

_PROPERTIES: Final = """\
adjusted agree agreed agreement agrees alpha approval approvals assisted authored bm
budget bytes calls capacity chunks city clicks cohort community complexity consistent
correlation delta density diff difference disagree disagreed disagreement disagrees
discrepancy distance downloads downvotes edits entropy experience failures followers
freq frequency gap generated hits hops icc impressions iteration iterations kappa karma
likes limit logit logits match matched matches mismatch paragraphs param parameter
parameters params percentile popularity priority prompt proximity quantile quantity
rarity residual retries retrieved retweets revision revisions round rounds sentences
set shots size spent split steps sum tenure tier turns university upvotes version views
visits weight weights window workload written years
"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""Words for what is counted, set or computed: about a text, whoever rates, or the
agreement of both.
"""
_VARIANTS: Final = """\
api base batched beta blind blinded calibrated chat cot current custom default
distilled draft ensemble experimental external few final finetuned first flash four fp
ft full guided high hr improved in instruct internal junior large lead lenient light
lite live local long loose low max medium mini ml model nano new off offline old on one
online open panel preview primary prior pro prod production prompted pt qa quick ref
reference referenced rubric second secondary senior short shot simple single sm small
soft strict teacher team thinking third three tuned turbo two vanilla vs with without
xl zero
"""
VARIANTS: Final = frozenset(_VARIANTS.split())
"""Words that tell one judge, model, prompt or rater from another of its kind."""
_FILLERS: Final = """\
a about adjudicated aggregated all an and answer answers are as at average avg be best
binary by column consensus do does each eval evaluated evaluation evaluator five for
from given global he how i id if is it item liked likert majority mean median most my
no num numeric of only or orig original out outcome output outputs overall point points
q quality question rank ranking rate rated raw reconciled reply response responses
result results review reviewed satisfied scale scaled scoring source sources star stars
summary system systems ten text texts than that the their this thumb thumbs to total us
value values was what which worst you your
"""
FILLERS: Final = frozenset(_FILLERS.split())
"""Words of a header that add nothing to whose rating it is."""
COUNTABLE: Final = frozenset({"citations", "details", "facts", "sources"})
"""Words for what is rated in a text, or counted: alone they name no aspect."""
SAYS_WHOSE: Final = frozenset({"person", "machine", "measure", "rating", "outcome"})


def property_in(header: str, shared: Collection[str] = ()) -> str:
    """The word of a header for something that is no rating, "" without one or if the
    header names an aspect, too.

    shared: words that headers of the other side have as well: both rated them.

    >>> property_in("model_size_b"), property_in("human_prompt_adherence")
    ('size', '')
    """
    if _names_aspect(header):
        return ""
    for word in split_header(header):
        if word in PROPERTIES and word not in shared:
            return word
    return ""


def counted_in(header: str, shared: Collection[str] = ()) -> str:
    """The words at the end of a header for things that something was done with, whose
    number a column has: `sources_used`, `claims_checked`; "" without them.

    shared: words that headers of the other side have as well: both rated them.

    >>> counted_in("llm_sources_used"), counted_in("judge_tools_called")
    ('sources used', 'tools called')
    >>> counted_in("judge_helpfulness_rated"), counted_in("claim_supported")
    ('', '')
    """
    *_, things, done = ["", "", *split_header(header)]
    irregular = {"found", "made", "read", "run", "seen", "sent", "shown", "written"}
    is_done = done.endswith("ed") or done in irregular
    is_plural = len(things) > 3 and re.search(r"[^siu]s$", things) is not None
    says_rating = {"rating", "outcome"} & {*classes_of(things), *classes_of(done)}
    if not is_done or not is_plural or says_rating or {things, done} <= {*shared}:
        return ""
    return f"{things} {done}"


def _names_aspect(header: str) -> bool:
    """Whether words of a header name an aspect that are no properties and say not
    whose it is: annotation is none.
    """
    for word in split_header(header):
        if word in PROPERTIES or word in COUNTABLE:
            continue
        of_side = {"person", "machine"} & classes_of(word).keys()
        if not of_side and names_aspect(word):
            return True
    return False


def unexplained(header: str, shared: Collection[str] = ()) -> list[str]:
    """The words of a header that may name an aspect, or something that is no rating.

    shared: words that headers of the other side have as well: both rated them.

    >>> unexplained("judge_zest"), unexplained("gpt-4o-mini score")
    (['zest'], [])
    >>> unexplained("human_clarity"), unexplained("human_zest", shared={"zest"})
    ([], [])
    >>> unexplained("rater JK"), unexplained("judge_lr")
    ([], ['lr'])
    """
    if _names_aspect(header):
        return []
    rest = []
    words = split_header(header)
    # chrF and G-Eval are one name each.
    joined: set[str] = set()
    for first, second in pairwise(words):
        kinds = {known.kind for known in known_words().get(first + second, ())}
        if SAYS_WHOSE & kinds:
            joined |= {first, second}
    for word in words:
        are_initials = len(word) == 2 and word.upper() in header
        is_short = len(word) == 1 or word.isdigit() or are_initials
        is_filler = word in FILLERS and word not in COUNTABLE
        known = is_filler or word in VARIANTS or word in shared or word in joined
        known = (
            known or is_given_name(word) or bool(SAYS_WHOSE & classes_of(word).keys())
        )
        if not is_short and not known:
            rest.append(word)
    return rest


def is_general(words: Collection[str], shared: Collection[str] = ()) -> bool:
    """Whether words of a header include one that ratings have in general.

    >>> is_general(["raw"]), is_general(["c"])
    (True, False)
    """
    return any(word in FILLERS or word in VARIANTS or word in shared for word in words)


def in_known_script(header: str) -> bool:
    """Whether a header has Latin letters only, or words of the vocabulary: of other
    scripts few words are known.

    >>> in_known_script("zest"), in_known_script("คะแนน")
    (True, False)
    """
    return all(word.isascii() or word in known_words() for word in split_header(header))
