"""Headers that may name raters: initials and given names, or words for aspects.

`JK`, `MB` and `SL` may be three raters, or three aspects that one person rated.
"""

import re
from typing import Final

from judgescope.tables.words import folded, split_header

ASPECT_ENDINGS: Final = (
    "ness",
    "ity",
    "cy",
    "ence",
    "ance",
    "tion",
    "sion",
    "ment",
    "ship",
    "ism",
    "ful",
    "ive",
    "ous",
    "ible",
    "able",
    "keit",
    "heit",
    "ung",
    "tät",
    "ité",
    "dad",
    "ción",
    "ость",
    "ние",
    "性",
    "度",
)
"""Endings of words for properties of a text."""
_ASPECT_WORDS: Final = """\
actionability adherence age apt argument assistance bias brevity candor charm citation
citations clear concise content context coverage craft creative cultural depth detail
details ease emotion engaging ethics facts faithful flair flow fluent focus form format
formatting funny genre grammar grammatical grounded grounding harm harmless helpful
honest honesty humor humour imagery insight intent joy kind language layout legal
length logic logical manner mood natural novel order overall pacing personality
persuasive pii plain plot polish polite privacy punctuation pure quality rapport
reasoning recall respect rhythm rigor rigour risk safe safety sense simple sources
spelling stance structure style succinct support surprise syntax tact taste theme tone
toxic toxicity trust truth understandable understood usage useful value variety
vividness voice warmth wit wording
"""
ASPECT_WORDS: Final = frozenset(_ASPECT_WORDS.split())
"""Further words for aspects."""
_OTHER_WORDS: Final = """\
absence abstention action activity agency allowance alternative annotation apartment
appearance archive assignment attendance attention audience authority balance business
cable capacity charity city collection comment commission community compensation
competition completion condition conference configuration connection correction
currency decision department deployment dimension direction distance document
documentation duration edition education election electricity element emergency
employment encryption entity environment equipment escalation evaluation evidence
executive expansion experience experiment extension facility finance five fraction
fragment frequency function generation handful harness identity implementation
increment inference installation instance institution insurance intermission internship
intervention investment invocation iteration jurisdiction latency live location
maintenance majority membership migration million minority mission moment motion
nationality native negative normalization objective observation occupation occurrence
operation option organisation organization ownership participation partition payment
pension permission perspective population portion position positive possession previous
priority probability production profession promotion proportion proximity publication
quantisation quantity quantization reaction reduction reference region registration
relationship residence residency resolution retention revision rotation salience
science section segment selection seniority sentence sequence session simulation
station submission subscription subsection table tendency tournament transaction
transcription transition translation trillion university vacancy variable variance
velocity version wellness witness
"""
OTHER_WORDS: Final = frozenset(_OTHER_WORDS.split())
"""Words with such an ending for something that nobody rates."""
_GIVEN_NAMES: Final = """\
adam adrian agnes ahmed aisha akira alan albert alex alexander alexandra ali alice
alina amelia amir amy ana andrea andreas andrew andy angela anita anja ann anna anne
annie anton antonio ari arthur aya barbara beatriz ben benjamin bernd bill birgit bob
boris brian camille carla carlos carmen carol caroline catherine cathy chiara chloe
chris christian christina claire clara claude claudia clemens daniel daniela dave
david deepak diana diego dmitri dora eleanor elena elias elif elisa elizabeth ella
ellen emil emily emma emre eric erik eva fabian fatima felix fiona florian fran
francesca francesco frank franz fred frida fritz gabriel gemma georg george gerd
giulia grace greg greta hana hannah hans harry heidi helen helena henry hiro hugo ian
ines ingrid irene isabel isabella ivan jack jakob james jan jana jane janet jason
javier jean jeff jennifer jenny jens jessica jill jim jin joan joanna joe joel johanna
johannes john jon jonas jorge jose joseph juan judith julia julian julie jun jurgen
kai karen karl karla kate katharina kathrin katja kelly ken kevin kim klaus kofi lara
larry lars laura lea lena leo leon leonie li liam lin lina linda lisa liu louis louise
luca lucas lucia lucy luis lukas luke luna maja manuel marc marco maria marie marina
mario mark markus marta martha martin mary mateo mats matt matteo matthew matthias max
maya mehmet mei mia michael michelle miguel mike mila mina miriam mohamed mona monika
mustafa nadia nancy natalia natalie nick nico nicole nina noah noor nora ola oleg olga
oliver olivia omar oscar otto pablo pat patricia patrick paul paula pedro peter petra
phil philip pia pierre priya rachel rahul ralf ravi rebecca renate richard rita rob
robert robin roland romain rosa ruth ryan sabine sally sam samir samuel sandra sara
sarah sebastian sergei sergio silke silvia simon simone sofia sonia sonja sophie
stefan stephan stephen steve sue susan susanne sven svetlana tanja tatiana ted theo
thomas tim tina tobias tom tomas tony tove ulrich ursula uwe valentina vera victor
viktor vincent walter wei will william wolfgang yan yann yara yuki yuri zoe анна борис
вера дима елена иван ирина катя мария михаил наташа ольга павел петр сергей
"""
GIVEN_NAMES: Final = frozenset(_GIVEN_NAMES.split())
"""Given names that are common somewhere."""


def is_given_name(header: str) -> bool:
    """Whether a header is a given name.

    >>> is_given_name("Marie"), is_given_name("Tone")
    (True, False)
    """
    return folded(header.strip()) in GIVEN_NAMES


TITLES: Final = frozenset(
    {"dr", "prof", "professor", "mr", "mrs", "ms", "herr", "frau", "mme", "sra"}
)
"""Words before the name of a person."""


def has_title(header: str) -> bool:
    """Whether a header is a title and a name: `Dr. Okafor`.

    >>> has_title("Dr. Okafor"), has_title("Okafor")
    (True, False)
    """
    words = split_header(header)
    return len(words) > 1 and words[0] in TITLES


def is_rater_code(header: str) -> bool:
    """Whether a header is an address or a worker's id, as crowd platforms give them.

    >>> is_rater_code("ana@lab.org"), is_rater_code("A23X"), is_rater_code("Q12")
    (True, True, False)
    """
    text = header.strip()
    if re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", text):
        return True
    mixed = re.fullmatch(r"[A-Z](?=[A-Z0-9]*\d)[A-Z0-9]{3,20}", text)
    return bool(mixed) and bool(re.search(r"\d[A-Z]", text))


def names_rater(header: str) -> bool:
    """Whether a header has a given name, or is one with a title, initials, or a number
    of a rater.

    >>> names_rater("ann1"), names_rater("Dr. Okafor"), names_rater("JK")
    (True, True, True)
    >>> names_rater("zest")
    False
    """
    if has_title(header) or are_initials(header) or is_numbered_rater(header):
        return True
    if is_rater_code(header):
        return True
    return any(map(is_given_name, split_header(header)))


def are_initials(header: str) -> bool:
    """Whether a header is two or three capitals, as initials are.

    >>> are_initials("JK"), are_initials("Jk")
    (True, False)
    """
    initials = re.compile(r"[A-ZÄÖÜÁÉÍÓÚÅØÇÑ]{2,3}")
    return bool(initials.fullmatch(header.strip()))


def is_numbered_rater(header: str) -> bool:
    """Whether a header is a letter, or that of raters and a number: `B`, `R2`, `P1`,
    `anno1`.

    Q1 is a question.

    >>> is_numbered_rater("R2"), is_numbered_rater("B"), is_numbered_rater("Q1")
    (True, True, False)
    """
    numbered = r"(?:[RAPEHW]|anno?|annot|rev|subj|usr)[ _-]?\d{1,2}"
    return bool(re.fullmatch(rf"[A-Za-z]|{numbered}", header.strip(), re.I))


def names_aspect(header: str) -> bool:
    """Whether a header has a word for a property of texts.

    >>> names_aspect("Helpfulness"), names_aspect("tone"), names_aspect("session")
    (True, True, False)
    """
    for word in split_header(header):
        if word in ASPECT_WORDS or word.removesuffix("ly") in ASPECT_WORDS:
            return True
        shortest = 2 if word[-1:] in "性度" else 5
        is_other = word in OTHER_WORDS or word.removesuffix("s") in OTHER_WORDS
        if len(word) >= shortest and word.endswith(ASPECT_ENDINGS) and not is_other:
            return True
    return False
