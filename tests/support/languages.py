"""Which rule and which kind of error works in which language: docs/languages.md.

`python tests/support/languages.py` prints the page, `--write` writes it. Each rule is
tried on four sentences in each of eight languages, which were written for this
repository.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from judgescope.core.words import WITHOUT_SPACES, script_of
from judgescope.perturb.check_languages import holds_in
from judgescope.perturb.edit_checks import LANGUAGES as CHECKED_IN
from judgescope.perturb.inject import ENGLISH_ERRORS, ERRORS
from judgescope.perturb.rules import RULES
from judgescope.plan.languages import BY_WORDS

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "languages.md"
SEEDS = range(8)
"""A rule works if it does with any of these seeds."""
NAMES: Final = {
    "en": "English",
    "de": "German",
    "ru": "Russian",
    "ar": "Arabic",
    "hi": "Hindi",
    "zh": "Chinese",
    "ja": "Japanese",
    "th": "Thai",
}
TEXTS: Final = {
    "en": (
        "The old bridge in Marlow will close for 11 weeks in spring. "
        "Inspectors from the city found cracks in two cables. She said that "
        "the repairs could not wait. Drivers will use the road along the "
        "river, which is longer."
    ),
    "de": (
        "Die alte Brücke in Marlau wird im Frühjahr für 11 Wochen gesperrt. "
        "Prüfer der Stadt fanden Risse in zwei Seilen. Sie sagte, dass die "
        "Arbeiten nicht warten können. Autos nehmen die längere Straße am "
        "Fluss."
    ),
    "ru": (
        "Старый мост в Марлове закроют весной на 11 недель. Инспекторы "
        "города нашли трещины в двух тросах. Она сказала, что ремонт не "
        "может ждать. Водители поедут по длинной дороге вдоль реки."
    ),
    "ar": (
        "سيغلق الجسر القديم في مارلو 11 أسبوعا في الربيع. وجد مفتشو المدينة "
        "شقوقا في حبلين. قالت إن الإصلاح لا يمكن أن ينتظر. سيسلك السائقون "
        "الطريق الطويل بجانب النهر."
    ),
    "hi": (
        "मार्लो का पुराना पुल वसंत में 11 सप्ताह के लिए बंद रहेगा। शहर के "
        "निरीक्षकों को दो तारों में दरारें मिलीं। उसने कहा कि मरम्मत रुक "
        "नहीं सकती। गाड़ियाँ नदी के किनारे की लंबी सड़क से जाएँगी।"
    ),
    "zh": (
        "马洛的旧桥春天将关闭十一周。城里的检查员在两根钢索上发现了裂缝。她说"
        "维修不能再等了。司机们将走河边更长的路。"
    ),
    "ja": (
        "マーローの古い橋は春に十一週間閉鎖される。市の検査員が二本のケーブル"
        "にひびを見つけた。彼女は修理を待てないと言った。運転手は川沿いの長い"
        "道を使う。"
    ),
    "th": (
        "สะพานเก่าในมาร์โลว์จะปิด 11 สัปดาห์ในฤดูใบไม้ผลิ "
        "ผู้ตรวจของเมืองพบรอยร้าวในสายเคเบิลสองเส้น เธอบอกว่าการซ่อมรอไม่ได้ "
        "คนขับรถจะใช้ถนนเลียบแม่น้ำที่ยาวกว่า"
    ),
}
TRIED: Final = (
    "delete_characters",
    "typos",
    "delete_sentences",
    "reorder_sentences",
    "delete_words",
    "exchange_words",
)
HEAD: Final = """# Languages

Measures read texts in any script: ROUGE, BLEU and the rule judge count letters,
marks and digits of every script; Han characters and kana count one by one, and so
do the letters of Thai, Lao, Khmer and Burmese. BLEU takes sacrebleu's tokenizer
`zh` or `char` if most letters of a dataset's references are of such a script.
Spelling is part of the rule judge only if the texts are English. METEOR's stems, the
sentiment of reasons and the shipped weights of BERTScore, MoverScore and BARTScore
are English; SARI needs blanks between words. A model card of your own program says so
with `reads: english` or `reads: spaced`.

`language` in a dataset's card is a tag such as `de`; without it, `judgescope check`
guesses from letters and words whether texts are English, and warns of what does not
work with them. The shipped prompts are in English.

What was tried on four sentences in each language; "yes" means that a text with the
change came out:

"""
FOOT: Final = """
Names and grammatical errors outside English are made by English rules, and may be
no errors. A check of the kind of change is not applied where it does not hold: the
texts count as `share_unchecked` in `perturbations.csv`, and every number about them
says "kind of change not checked". The checks `differs`, `not_refusal` and `length`
hold everywhere.
"""


def outcome(rule: str, language: str) -> str:
    """Return "yes", or "no" and the reason why a rule cannot change a text."""
    text = TEXTS[language]
    k = 2 if rule == "reorder_sentences" else 1
    reasons = set[str]()
    for seed in SEEDS:
        done = RULES[rule].function(text, np.random.default_rng(seed), k=k)
        if done.status == "ok":
            letters = rule in BY_WORDS and script_of([text]) in WITHOUT_SPACES
            return "yes: letters are words" if letters else "yes"
        reasons.add(done.status.partition(": ")[2])
    return f"no: {'; '.join(sorted(reasons))}"


def injected(kind: str, language: str) -> str:
    """Return "yes", or "no" if an error of a kind has no place in the text."""
    function = RULES["inject_errors"].function
    for seed in SEEDS:
        [first, *_] = function(
            TEXTS[language], np.random.default_rng(seed), kinds=[kind], count=1
        )
        if first.status == "ok":
            english = kind not in ENGLISH_ERRORS or language == "en"
            return "yes" if english else "by English rules"
    return "no"


def checks_in(language: str) -> str:
    """Return whether the checks of the kinds of change hold in a language."""
    held = [holds_in(check, language) for check in CHECKED_IN]
    return "yes" if all(held) else "no"


def row(title: str, cell: Callable[[str], str]) -> str:
    """Return a row of the table; `cell` gives the entry of a language."""
    cells = [cell(language) for language in NAMES]
    return f"| {' | '.join([title, *cells])} |"


def page() -> str:
    """Return the page."""
    rows = [row("rule or kind of error", NAMES.__getitem__)]
    rows.append(f"|{'---|' * (len(NAMES) + 1)}")
    for rule in TRIED:
        rows.append(row(f"`{rule}`", partial(outcome, rule)))
    for kind in ERRORS:
        rows.append(row(f"`inject_errors`: {kind}", partial(injected, kind)))
    title = f"checks of the {len(CHECKED_IN)} kinds of change by a model"
    rows.append(row(title, checks_in))
    return HEAD + "\n".join(rows) + "\n" + FOOT


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page())
