"""A sentence as it is read: without escapes, curly quotes and the marks that end clauses."""

from __future__ import annotations

import re
from html import unescape

from api.questions.amounts import COUNTS
from api.questions.words.translations import in_english

_QUOTES = str.maketrans("“”„«»‘’–—", '"""""' + "''--")
_MARKS = re.compile(
    r"(?<!\S)[(\[]+(?=\S)|(?<!\S)~\s*(?=\d)|(?<=\S)[?!:.…]+(?=\s|[,;]|$)|(?<!\S)[-(\[*_~`]+(?=[A-Za-z(])|[()\[\]{}`]+(?=[\s,;?!.:]|$)|(?<=\s)-+(?=\s)"
)
_QUOTED = re.compile(r"(?<![=\w])[\"']([^\"'=]+)[\"'](?!\w)")
_OR = r"\s*(?:vs\.?|versus|against|or|and|,|/)\s*"
_SPELT = tuple((re.compile(text, re.IGNORECASE), word) for text, word in (
    (r"\bswiss franc", "franc"),
    (r"\b(?:us|american) dollar", "dollar"),
    (r"\bflux(?:[.-]?1)?[\s.-]+(?:schnell|dev)\b", "flux"),
    (r"\b(?:any|every)(?:one|body)\s+but\b(?!\s+not)", "except"),
    (rf"\b([ahv]\d{{3}})s?[\s-]+(\d{{2,3}})\s?(?:gi?b)?({_OR})(\d{{2,3}})\s?gi?b\b", r"\1-\2GB\3\1-\4GB"),
    (rf"\b([ah]\d{{3}})s?[\s-]+(pcie|nvl|sxm)\d?({_OR})(pcie|nvl|sxm)\d?\b", r"\1-\2\3\1-\4"),
    (r"(?<=[a-z]\d)o+(?![\w.-])", lambda found: "0" * len(found[0])),
    (r"(?<=[a-z])\((?=[\w\"'])|(?<!\S):[\w+-]+:(?!\S)", " "),
    (r"(?:\b|(?<=\dx))([ahv]\d{3}s?[\s-]*\d{2,3}\s?)g\b", r"\1GB"),
    (r"(?:\b|(?<=\dx))([ahv]\d{3})-(16|32|40|80|94|141)(?![\w.-])", r"\1-\2GB"),
    (r"\bbuy(?:ing)?(?=(?:\s+[\w-]+){0,3}\s+(?:time|hours|capacity|instances)\b)", "rent"),
    (r"\b(any|all|every)((?:\s+\w+){1,2})\s+but\b(?!\s+not)", r"\1\2 except"),
    (r"(?<=\w)-(?:hosted|based|located|only|training|trainings)\b", ""),
    (r"(?<![\w.=-])([a-z]+\d+[a-z]*)[x×](\d{1,3})(?![\w.-])", r"\1 x\2"),  # T4x2
    (r"\b(\d{1,3}b)[\s-]+(llama[\s-]?\d?(?:\.\d)?)(?=\s|$)", r"\2 \1"),
    (r"(?<=\w{4})(?<!approx)[.!?]+(?=\s+[a-z])", ","),  # clauses end with sentences
    (r"\bw/o\b", "without"),
    (r"\bw/(?=\s)", "with"),
    (r"\b([a-z]{2}-[a-z]+-\d)[a-f]\b", r"\1"),
    (r"\b((?:us|europe|asia|australia|me|africa|[a-z]+america)-[a-z]+\d+)-[a-f]\b", r"\1"),
    (r"\ba\s+(?=(?:dollar|buck|euro|pound)\b)", "1 "),
    (r"\s(?:[-=]>|→)\s", " to "),
    (r"\bu\.\s?s\.(?:\s?a\.)?", "US"),
    (r"\bu\.\s?k\.", "UK"),
    (r"\be\.\s?u\.", "EU"),
))  # fmt: skip

_COLON = re.compile(r"(?<![\w.=:-])([a-z][\w-]*):(?=\d\d(?:[.,]\d+)?\s?%?(?:[\s,]|$))", re.IGNORECASE)
_ONES = "|".join(word for word, count in COUNTS.items() if count < 10 and word not in ("an", "single", "couple"))
_TENS = "|".join(word for word, count in COUNTS.items() if count in range(20, 100, 10))
_IN_TENS = re.compile(rf"\b({_TENS})(?:[\s-](?!a\b)({_ONES}))?\b(?!-)", re.IGNORECASE)
_HUNDREDS = re.compile(rf"\b(?:({_ONES})\s+)?(hundred|thousand|grand)\b", re.IGNORECASE)
_CENTS = re.compile(r"\b(\d{1,2})\s?cents?\b", re.IGNORECASE)
_POINT = re.compile(rf"\b(\d+)\s+point\s+({_ONES}|\d)\b", re.IGNORECASE)
_COMPARED = re.compile(r"(?<=[a-z])([<>]=?|[≤≥])(?=\s?[$€£]?\d)", re.IGNORECASE)
_AT = re.compile(r"@(?=\s?(?:\d+(?:[.,]\d+)?\s?%|0?[.,]\d|\d\d(?:[.,]\d+)?(?![\w.,])))")
_MEMORY_FIRST = re.compile(r"\b(\d{2,3})\s?gi?b\s+([ahv]\d{3})s?\b", re.IGNORECASE)


def plain_text(text: str) -> str:
    """The text of a sentence. Slack escapes three signs and its clients curl quotes."""
    plain = unescape(text).translate(_QUOTES)
    for pattern, word in _SPELT:
        plain = pattern.sub(word, plain)
    plain = _in_digits(_QUOTED.sub(r"\1", plain))
    plain = _COMPARED.sub(r" \1 ", plain)
    plain = _COLON.sub(r"\1 ", _AT.sub(" ", plain))
    plain = in_english(plain)
    plain = _MEMORY_FIRST.sub(r"\2-\1GB", plain)
    return _MARKS.sub("", plain).strip()


def _in_digits(text: str) -> str:
    """Tens and hundreds in digits: `seventy-six percent`, `two hundred dollars`, `a grand`."""
    text = _CENTS.sub(lambda found: f"${int(found[1]) / 100:.2f}", text)
    text = _HUNDREDS.sub(_hundreds, text)
    text = _IN_TENS.sub(lambda found: str(_value(found[1]) + (_value(found[2]) if found[2] else 0)), text)
    return _POINT.sub(lambda found: f"{found[1]}.{_value(found[2])}", text)


def _hundreds(found: re.Match[str]) -> str:
    many = _value(found[1] or "one") * (100 if found[2].lower() == "hundred" else 1000)
    return f"${many}" if found[2].lower() == "grand" else str(many)


def _value(word: str) -> int:
    return int(word) if word.isdigit() else COUNTS[word.lower()]
