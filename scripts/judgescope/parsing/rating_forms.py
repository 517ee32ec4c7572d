"""The ways to write a rating without a label: `4`, `3/5`, `I would give it a 4`."""

from judgescope.parsing.characters import word_set
from judgescope.parsing.keys import NUMBERS
from judgescope.parsing.pair_sides import TEXT
from judgescope.parsing.rating_patterns import (
    BRACKETED,
    COUNTS,
    DIGITS,
    END,
    MARKS,
    NUMBER_WORD,
    OF,
    ONE_NUMBER,
    OVER,
    STOP,
    UNIT,
)

_IT = r"(?:\s+(?:it|this|that|them))"
_OBJECT = rf"(?:\s+(?:the|this|that|its)(?:\s+[a-z']+){{1,2}}|{_IT})?"
FIRMNESS = r"(?:solid|strong|weak|low|high|perfect|clear|firm|full|fair)"
_ARTICLE = rf"\s+an?(?:\s+{FIRMNESS})?"
_RATE = (
    r"(?:rat(?:es?|ed|ing)\s+the(?:\s+[a-z']{1,20}){1,6}\s+(?:as|at)(?:\s+an?)?"
    rf"|(?:rat(?:es?|ed|ing)|deserves?|merits?|warrants?){_OBJECT}(?:\s+(?:as|at)|"
    rf"{_ARTICLE})?)"
)
_GIVE = (
    r"(?:scor(?:es?|ed|ing)|earn(?:s|ed|ing)?|deserv(?:ed|ing)|merit(?:ed|ing)|warrant"
    r"(?:ed|ing)|"
    r"gives?|given|gave|giving|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|receiv(?:es?|ed|"
    r"ing)|"
    rf"gets?|getting|say|is|be|(?:it|this|that|one)'s)"
    rf"(?:{_OBJECT}(?:\s+(?:only|just))?{_ARTICLE}|{_IT})"
    r"|(?:lands?|settles?|sits|ends?\s+up|comes?\s+(?:in|out))\s+(?:at|on|as|with)"
    rf"{_ARTICLE}"
)
_DECIDE = (
    r"(?:(?:i|we|i'd|i'll)\s+(?:would\s+|will\s+)?(?:put|place)\s+(?:it|this|that|the)"
    rf"(?:\s+[a-z]{{2,20}}){{0,2}}\s+at(?:{_ARTICLE})?"
    r"|(?:i|we|i'd|i'll)\s+(?:would\s+|will\s+|'d\s+)?(?:say|choose|pick|select|"
    r"settle\s+(?:on|for)|go\s+(?:with|for)|opt\s+for)"
    r"|(?:mark|label|classif|grad|judg|consider|deem)(?:y|ied|ed|e)?\s+(?:it|this|that|the"
    r"\s+[a-z]{2,20})(?:\s+(?:as|to\s+be))?)"
    r"(?:\s+an?)?"
)
_QUALITY = (
    r"(?:scor(?:es|ed|ing)|earn(?:s|ed|ing)|receiv(?:es|ed|ing)|gets|getting|giving|"
    r"deserv(?:es|ing))"
    rf"{_OBJECT}\s+an?\s+(?:[a-z]{{3,12}}\s+)?(?!(?:out|total|sum|average|mean|salary|"
    r"profit|lead|"
    r"minimum|maximum|margin|pair|couple|handful|majority|minority|"
    rf"{COUNTS})s?\b)[a-z]{{3,20}}\s+of"
)
"""`scoring a perfect fluency of 5`: an award that names the quality."""
CONCLUSION = (
    r"(?:so|thus|hence|therefore|overall|consequently|accordingly|altogether|finally"
    r"|in\s(?:sum|short|summary|conclusion|total|the\send|my\s(?:view|opinion))"
    r"|to\s(?:sum\sup|conclude)|all\sin\sall|all\sthings\sconsidered|on\sbalance|as\sa\sresult)"
)
"""Words that begin a last sentence with the verdict."""
SURELY = r"(?:probably|likely|definitely|certainly|clearly|surely|easily|arguably)"
_SENTENCE_START = r"(?:\A|[.!?;\n]\s{0,2})[ \t*_\"']{0,4}"
_AWARDED = (
    rf"(?:(?:it|this|the\s{TEXT})\s(?:{SURELY}\s)?"
    r"(?:earns|gets|receives|scores|deserves|merits)"
    r"|(?:i|we)(?:'d|'ll|\swould|\swill)?\s(?:give|award|assign)"
    rf"(?:\s(?:it|them|(?:this|that|the)(?:\s{TEXT})?))?)"
)
_REMARK = (
    r"rationale|explanation|reason(?:ing)?|justification|analysis|evidence|comment|"
    r"feedback|"
    r"strength|weakness|issue|error|problem|example|time|date|year|age|price|chapter|"
    r"option|choice"
)
"""Names of lines that are not verdicts."""
_LIST = r"(?s:.*)\n[\W_]{0,8}\d{1,3}\s?[-–—:.)=]\s"
"""A further line of a numbered list, or of a list that explains the scale's values."""
_WORDS = r"(?:its\s|the\s)?[^\W\d]{3,20}"
_REGARDING = r"(?:in\s+terms\s+of|with\s+(?:regard|respect)\s+to|regarding|for)"
_NAME_OF_LINE = (
    r"(?:[a-z]|[^\W\d_a-z](?=[^\W\d_]|\s?[^\w\s]))"
    r"[^\n\d:=.!?;,(){}\[\]<>\"*|`~#]{0,40}"
)
"""The name of a line, in letters of any script; marks of vowels belong to it."""
_FOREIGN = "|".join(
    sorted(NUMBERS - word_set("score scores rating ratings grade grades scoring"))
)
"""Names of ratings in other languages than English."""
FORMS = {
    "bare": r"\A(?:[-•>#=]{1,6}\s+)?"
    rf"(?:an?(?:\s{FIRMNESS})?(?=\s))?VALUE{UNIT}{BRACKETED}[\W_]*\Z",
    "double_brackets": r"\[\[VALUE\]\]",
    # `scoring a one`, `I would give it a 4`, `rated 3`, `is a 4`, `earning a fluency of
    # 5`
    "given": rf"\b(?:{_QUALITY}|{_RATE}|{_GIVE}|{_DECIDE})(?=\s)VALUE{UNIT}{STOP}",
    # `3/5` and `three stars out of five` in a sentence; other denominators are not
    # verdicts
    "fraction": rf"(?<![\w./-])(?=(?:{DIGITS}|{NUMBER_WORD})"
    rf"{MARKS}{OVER}\s*(?:/\s*|out\s+{OF})TOP{END})VALUE{STOP}",
    # a line or a last sentence `Coherence: 4`; counts (`Sentences: 4`) are not verdicts
    "named_line": r"(?m)(?:^|[.!?;][\"']?(?:\s{1,2}|(?=[^\x00-\x7f])))"
    r"[ \t*_#>\"'{-]{0,8}"
    rf"(?![^:\n]{{0,40}}\b(?:{COUNTS})\b){_NAME_OF_LINE}"
    rf"(?<![a-rt-z]s)[*_\"'`]{{0,4}}"
    rf"{BRACKETED}\s?[:=]VALUE[ \t*_\"'`}}\].,]{{0,24}}$(?(below){ONE_NUMBER}|)",
    # a line that begins `Coherence: 4.` or `Coherence: 4 - ` and continues with the
    # reason
    "named_lead": rf"(?m)^[ \t*_#>\"'{{-]{{0,8}}(?![^:\n]{{0,40}}\b(?:{COUNTS}|"
    rf"{_REMARK})\b)"
    rf"{_NAME_OF_LINE}(?<![a-rt-z]s)[*_\"'`]{{0,4}}{BRACKETED}\s?[:=]VALUE"
    # a unit of another language has left blanks
    r"(?:[ \t]{0,16}[.;,]\s|\s[-–—]\s|\s?\(|\s(?=because\b|since\b))"
    r"(?=\s{0,2}[^\d\s])(?![^\n]{0,200}[.;,]\s\(?\d[.)]\s)"
    # `Rating:`, and below it a list
    r"(?(below)(?<!\W1\.\s)(?![^\n]{0,400}\n\W{0,8}\d{1,2}[.)]\s)|)",
    # `评分：4。内容准确。`: no blank follows a full stop
    "named_unspaced": rf"(?m)^[ \t*_#>\"'{{-]{{0,8}}(?:{_FOREIGN})[*_\"'`]{{0,4}}"
    r"\s?:VALUE[.;,](?=[^\x00-\x7f])",
    # `Die Bewertung ist 4`, `Итоговая оценка - 4`, `评分是4`
    "named_word": rf"(?m)^[ \t*_#>\"'{{-]{{0,8}}(?:[^\W\d_]{{1,20}}\s){{0,3}}"
    rf"[^\W\d_a-z]{{0,8}}?(?:{_FOREIGN}|nota|note(?=(?:\s[a-z]{{1,12}})?\sest\b))"
    r"[*_\"'`]{0,4}(?:\s[^\W\d_]{1,12})?"
    r"(?:\s[-–—]{1,2}\s|\s?(?:是|为|為|は|는|은)\s?|\s(?:ist|es|è|é|est|is|jest|är|er)"
    rf"(?=\s))VALUE{UNIT}{STOP}",
    # `The coherence is 3 (good).`: a value and its meaning in brackets; counts are not
    # ratings
    "glossed": rf"(?:\A|(?<=[.!?;,\n]))(?![^.!?;,\n]{{0,80}}\b"
    rf"(?:{COUNTS})s?\b)\s{{0,2}}"
    r"(?:[^\W\d]{1,20}\s){1,12}?isVALUE\s\([a-z][a-z ,'-]{1,40}\)"
    rf"(?=\s*(?:[.,;!]|\Z)|\s{_REGARDING}\s+{_WORDS}(?:\s(?:and|"
    rf"or)\s{_WORDS})?\s{{0,2}}"
    r"(?:[.,;!](?![^.!?\n]{0,80}\d\s\()|\Z))",
    # `4`, then a new line, a dash or a reason; `4. ...` unless it starts a list
    "leading": r"\AVALUE(?P<unit>\s+(?:points?|stars?)\b)?(?:[ \t]*+[.:]?[ \t]*+\n|"
    r"\s+[-–—]+\s(?!\d{1,4}\s?=)"
    r"|,?\s+(?:because|since|as)\b"
    r"|(?(number)[.:;,)]\s(?!(?s:.*)\d[.)]\s)|(?(unit)[.:;,!][*_]{0,3}\s|(?!)))"
    rf"|(?(number)[-–—]\s(?=[^\d\s])|(?!)))(?!{_LIST})",
    # a last sentence, line or bracket that contains only a value
    "trailing": r"(?:(?<! no)(?!(?<=\d)\.\d)[.!?;\n][ \t]{0,4}|(?=[(\[])"
    r"|,\s(?:so|hence|thus|therefore)(?:\san?)?(?=\s))"
    rf"VALUE{UNIT}[\W_]*\Z",
    # `The answer is 4` as the first line of a reply, or as its last sentence
    "answer": r"(?:(?P<first>\A)|(?<=[.!?\n]))\s{0,2}(?:(?:so|thus|hence|"
    r"therefore),?\s)?"
    rf"(?:the|my)\s+answer\s+is(?=\s)VALUE{UNIT}"
    r"(?(first)[^\w\n]{0,8}(?:\n|\Z)|[\W_]*\Z)",
    # `Therefore 4.`, `Overall, a 4.`, `Probably a 3.`, `Solid 4.`, `It earns 4 points.`
    # as the last sentence
    "concluding": rf"{_SENTENCE_START}(?:(?:{CONCLUSION})(?:,\s|\s|:\s?)"
    rf"(?:(?:{SURELY})\s)?(?:{_AWARDED}\s)?|{SURELY}\s|{_AWARDED}\s"
    rf"|(?={FIRMNESS}\s|level\s))(?:just\s|only\s)?"
    rf"(?:an?\s|level\s)?(?:{FIRMNESS}\s)?VALUE{UNIT}[\W_]*\Z",
    # `Total: 4`; behind other named numbers it may be their sum
    "total": r"\A(?:[^:=\d]*\n)?[ \t*_#>-]{0,8}total(?:\spoints)?[*_]{0,4}"
    rf"\s?[:=]VALUE{UNIT}[\W_]*\Z",
}
"""Name -> pattern of a rating without a label, in order of precedence."""
SIGNS_OF_FORMS = {
    "double_brackets": ("[[",),
    "fraction": ("/", "out"),
    "named_line": (":", "="),
    "named_lead": (":", "="),
    "named_unspaced": (":",),
    "glossed": ("(",),
    "answer": ("answer",),
    "total": ("total",),
}
"""Name of a form -> signs of which it has one: without them it is not sought."""
LEADING_LABEL = (
    r"\A(?:[->#=]{1,6}\s+)?VALUE(?:[ \t]*+[.:]?[ \t]*+\n|\s+[-–—]+\s"
    r"|,?\s+(?:because|since|as)\b"
    r"|[.:;,!][*_]{0,3}\s)"
)
