"""Sentences and English words, by rules and lists: no download, no training.

A sentence ends at a line break, or at a terminator with the closing quotes and brackets
after it. A full stop after an abbreviation, an initial or a list number is not a
terminator. The rules do not rely on capitals (much of the data is lower-cased);
abbreviations are mostly English ones. A word may belong to several classes, which only
its sentence would distinguish: classes here are by the word's form.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

_CLOSING = "\"'”’»›)\\]}」』】〕》〉"
_SPACED = ".!?…؟۔।॥።။։"
CLOSING = _CLOSING
"""Quotes and brackets after the end of a sentence."""
TERMINATORS = f"{_SPACED}。！？｡．"
"""Marks that end a sentence, of any script."""
_LINE = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_END = re.compile(
    rf"(?<![{_SPACED}])(?P<spaced>[{_SPACED}]++)[{_CLOSING}]*+(?!\S)"
    rf"|(?:[。！？｡]|．(?!\d))++[{_CLOSING}]*+"
)
_WORD = re.compile(r"\w+|\Z")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class _Abbreviations:
    """Words after which a full stop need not end a sentence."""

    titles: frozenset[str] = _words(
        "mr mrs ms mx dr prof rev fr gen col maj capt cpl sgt lt cmdr adm gov sen rep "
        "hon pres supt messrs mme mlle st mt ft vs viz e.g i.e cf approx ca resp bzw "
        "nr"
    )
    """Never the last word of a sentence."""
    before_numbers: frozenset[str] = _words(
        "no nos vol fig figs eq eqs sec ch p pp art"
    )
    """Abbreviations only when a number follows."""
    others: frozenset[str] = _words(
        "jr sr inc ltd co corp bros dept univ assn etc al est ave blvd rd sq hwy jan "
        "feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri "
        "ed eds ph.d spp sp subsp var pv"
    )
    """May be the last word of a sentence, which ends here if one of `starters`
    follows."""
    starters: frozenset[str] = _words(
        "A After All Although An And As At Because Both But By Each Even For From He "
        "Her His How However I If In It Its Many More Most My No Not Now On One Our "
        "She Since So Some That The Their Then There These They This Those Though To "
        "Two Until We What When Where While Who Why With Yet You Your"
    )
    """Words that often begin a sentence."""


_SHORT = _Abbreviations()


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans (start, end) of the sentences, in order; the gaps are white
    space or empty.

    No span is empty, or begins or ends with white space; a text of only white space has
    no spans.
    """
    spans = []
    for line in _LINE.finditer(text):
        start = line.start()
        ends = [*_ends(text, *line.span()), line.end()]
        for end in ends:
            piece = text[start:end]
            if piece.strip():
                spans.append((end - len(piece.lstrip()), start + len(piece.rstrip())))
            start = end
    return spans


def _ends(text: str, start: int, stop: int) -> Iterator[int]:
    """Yield the ends of the sentences within the line text[start:stop]."""
    words = _WORD.finditer(text, start, stop)
    following = next(words)
    scanned = start
    has_words = False
    for mark in _END.finditer(text, start, stop):
        has_words = has_words or any(map(str.isalnum, text[scanned : mark.start()]))
        scanned = mark.start()
        while following.start() < mark.end():
            following = next(words)
        if has_words and _is_end(text, start, mark, following[0]):
            yield mark.end()
            start = scanned = mark.end()
            has_words = False


def _is_end(text: str, start: int, mark: re.Match[str], following: str) -> bool:
    """Return whether the sentence that begins at `start` ends with this mark."""
    terminator = mark["spaced"]
    if terminator is None:
        return True
    if following[:1].islower() and (
        mark[0] != terminator or terminator in ("…", "..", "...")
    ):
        return False  # "Stop!" he said, and then … nothing
    if mark[0] != ".":
        return True
    return not _is_abbreviated(text, start, mark.start(), following)


def _is_abbreviated(text: str, start: int, stop: int, following: str) -> bool:
    """Return whether the full stop after text[start:stop] belongs to its last word."""
    begin = stop
    while begin > start and not text[begin - 1].isspace():
        begin -= 1
    opening = "\"'“‘«‹([{"
    last = text[begin:stop].lstrip(opening)
    word = last.casefold()
    if word in _SHORT.titles or (word.isdecimal() and text[start:stop].strip() == word):
        return True
    if word in _SHORT.before_numbers and following[:1].isdecimal():
        return True
    initials = last != "I" and _INITIALS.fullmatch(word) is not None
    return (initials or word in _SHORT.others) and following not in _SHORT.starters


# --- English words --------------------------------------------------------------------


_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W_]+)*|\w+|[^\w\s]")
_DENIED = {
    re.compile(pattern, re.IGNORECASE): plain
    for pattern, plain in {
        r"\bcan(?:not|['’]t)\b": "can not",
        r"\bwon['’]t\b": "will not",
        r"n['’]t\b": " not",
    }.items()
}


_CONNECTIVES = """
accordingly, additionally, after all, also, although, and, as a consequence, as a \
result, because,
besides, but, by contrast, consequently, conversely, even so, finally, first, for \
example,
for instance, for that reason, furthermore, hence, however, if, in addition, in \
conclusion,
in contrast, in fact, in other words, in particular, in short, in spite of this, in \
summary,
in the meantime, indeed, instead, lastly, likewise, meanwhile, moreover, nevertheless, \
next,
nonetheless, on the contrary, on the other hand, or, otherwise, rather, second, \
similarly,
since, so, so that, still, then, thereby, therefore, though, thus, to sum up, unless, \
until,
whereas, while, yet
"""
CONNECTIVES = frozenset(" ".join(phrase.split()) for phrase in _CONNECTIVES.split(","))
SUBORDINATORS = _words("""
who whom whose which that because although though while since after before when where \
if unless
until whereas whereby wherein
""")
NEGATIVE = _words("""
not never no none nobody nothing nowhere neither nor without hardly scarcely barely
""")
POLARITY = NEGATIVE | _words("""
longer any anyone anybody anything anywhere some someone somebody something somewhere \
everyone
everybody everything everywhere every all always ever either still already yet too also
""")
"""Words that may differ between a statement and its negation."""
BE = _words("be am is are was were been being get gets got gotten getting")
DO = _words("do does did")
FUNCTION = (
    BE
    | DO
    | SUBORDINATORS
    | POLARITY
    | CONNECTIVES
    | _words("""
a an the this these those there here it its itself he him his himself she her hers \
herself they
them their theirs themselves we us our i me my you your one ones both each such of to \
in on at by
for from with into onto over under about as than between through during against among \
across
around along behind near off out up down within upon toward towards per have has had \
having will
would shall should can could may might must very just only more most much many so how \
what why s
""")
)
"""Function words."""
NUMBERS = _words("""
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen \
fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety \
hundred thousand
million billion dozen half third quarter twice once first second fourth fifth sixth \
seventh eighth
ninth tenth
""")
_IRREGULAR = """
be am is are was were been being; bear bore borne born; have has had having; do does \
did done
doing; go goes went gone; become became; begin began begun; bend bent; bind bound; \
bite bit
bitten; blow blew blown; break broke broken; bring brought; build built; burn burnt; \
buy bought;
catch caught; choose chose chosen; come came; cost; creep crept; cut; deal dealt; dig \
dug; draw
drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; \
feed fed; feel
felt; fight fought; find found; fly flew flown; forget forgot forgotten; get got \
gotten; forgive
forgave forgiven; freeze froze frozen; give gave given; grow grew grown; hang hung; \
hear heard;
hide hid hidden; hit; hold held; hurt; keep kept; know knew known; lay laid; lead led; \
leave left;
lend lent; let; lose lost; make made; mean meant; meet met; mow mown; overtake \
overtook overtaken;
pay paid; put; read; ride rode ridden; ring rang rung; rise rose risen; run ran; say \
said; see saw
seen; seek sought; sell sold; send sent; set; sew sewn; shake shook shaken; shine \
shone; shoot
shot; show shown; shut; sing sang sung; sink sank sunk; sit sat; sleep slept; speak \
spoke spoken;
spend spent; split; spread; stand stood; steal stole stolen; stick stuck; strike \
struck; sweep
swept; swim swam swum; take took taken; teach taught; tear tore torn; tell told; think \
thought;
throw threw thrown; understand understood; wake woke woken; wear wore worn; weave wove \
woven; win
won; wind wound; withdraw withdrew withdrawn; write wrote written
"""


class _VerbForms(NamedTuple):
    """The irregular verbs of English."""

    base: dict[str, str]
    """Form -> the infinitive."""
    participles: frozenset[str]


def _irregular_verbs() -> _VerbForms:
    """Return the forms of the verbs in the list, whose last form is the participle."""
    base: dict[str, str] = {}
    participles = {"been", "done"}
    for verb in _IRREGULAR.replace("\n", " ").split(";"):
        forms = verb.split()
        base |= dict.fromkeys(forms, forms[0])
        participles.add(forms[-1])
    return _VerbForms(base, frozenset(participles))


_VERBS = _irregular_verbs()


def tokens(text: str) -> list[str]:
    """Return words, numbers and punctuation marks, in order."""
    return _TOKEN.findall(text)


def spelled_out(text: str) -> str:
    """Return the text with `not` instead of n't, and `can not` instead of cannot."""
    for pattern, plain in _DENIED.items():
        text = pattern.sub(plain, text)
    return text


def is_word(token: str) -> bool:
    """Return whether a token is a word or a number, not a punctuation mark."""
    return any(map(str.isalnum, token))


def lemma(word: str) -> str:
    """Return the common root of a verb's forms; the same endings are removed from other
    words.

    The root need not be a word: `hoping` and `hops` both give `hop`.
    """
    low = word.lower().replace("’", "'").removesuffix("'s")
    if low in _VERBS.base:
        return _VERBS.base[low]
    for ending in ("ies", "ied", "ing", "es", "ed", "s", "d"):
        root = low.removesuffix(ending)
        torn = ending == "d" and root[-1:] != "e"
        # Not an ending: `glass`, `status`.
        torn = torn or (ending == "s" and root[-1:] in ("s", "u"))
        if root != low and len(root) > 2 and not torn:
            base = _VERBS.base.get(root) or _VERBS.base.get(f"{root}e")
            return base or _closed(root, doubled=ending in ("ing", "ed"))
    return _closed(low)


def _closed(root: str, *, doubled: bool = False) -> str:
    if doubled and len(root) > 3 and root[-1] == root[-2] and root[-1] not in "ls":
        root = root[:-1]
    if len(root.rstrip("eyi")) > 2:
        return root.rstrip("eyi")
    return root


def stem(word: str) -> str:
    """Return the common root of a word family: `approved`, `approval`, `approve`."""
    # The longest endings of a kind first.
    endings = (
        "ations ation itions ition ments ment ions ion als al ance ence ness ers er "
        "ors or ful ive able ably ily ly"
    )
    low = lemma(word)
    for ending in endings.split():
        root = low.removesuffix(ending)
        if root != low and len(root) > 3:
            return _closed(root)
    return low


def is_participle(word: str) -> bool:
    """Return whether a word looks like a past participle."""
    return word.endswith("ed") or word in _VERBS.participles


def is_content(word: str) -> bool:
    """Return whether a word is a content word."""
    return is_word(word) and word.lower() not in FUNCTION


def is_number(word: str) -> bool:
    """Return whether a word is a number, in digits or letters."""
    if word[:1].isdigit():
        return True
    return word.lower() in NUMBERS


def is_name(word: str, *, first: bool) -> bool:
    """Return whether a capitalised word is a name; the first word of a sentence, if it
    is unknown."""
    if not word[:1].isupper() or word == "I":
        return False
    if not first:
        return True
    if word.lower() not in _dictionary():
        return True
    return any(map(str.isupper, word[1:]))


@lru_cache(1 << 16)
def frequency(word: str) -> int:
    """Return the frequency of a word in the counts of pyspellchecker; 0 if unknown."""
    counts = _dictionary()
    return max(int(counts.get(part, 0)) for part in (word.lower(), lemma(word)))


def english_words() -> Collection[str]:
    """Return the words of pyspellchecker's English (American) dictionary."""
    known: Collection[str] = _dictionary()
    return known


@cache
def _dictionary() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en").word_frequency.dictionary
