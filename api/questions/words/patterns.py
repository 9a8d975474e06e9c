"""The patterns that rules are made of."""

from __future__ import annotations

import re
from calendar import day_name

from api.questions.amounts import COUNTS, MONEY, NUMBER

Match = re.Match[str]
ABOUT = "about "
"""Before a parameter that a sentence tells of a network or a machine, until it is clear whether there is one that takes it."""
END = r"(?=[\s,;/]|$)"
OF_GPUS = r"(?P<kind>gpus?|tpus?(?:\s+chips?)?|(?:tpu\s+)?chips?|cards?|accelerators?)"
OF_NODES = r"(?:nodes?|machines?|instances?|servers?|boxes|hosts?|vms?)"
COUNT_WORDS = "|".join(word for word in COUNTS if word not in ("a", "an"))
MOST = (
    r"(?:(?:in\s+|for\s+|costs?\s+|but\s+)?(?:(?:no|not)\s+(?:more|longer|slower|later|dearer)\s+than|(?:less|fewer|cheaper|faster|shorter|quicker)\s+than|"
    r"under|below|up\s+to|at\s+most|no\s+greater\s+than|(?:not|never)\s+(?:over|above|exceed(?:ing)?)|max(?:imum|\.)?(?:\s+of)?|(?:a\s+)?limit\s+of)|within|inside|"
    r"<=?|≤)"
)
LEAST = (
    r"(?:(?:more|longer|greater|higher|bigger|larger)\s+than|over|above|at\s+least|min(?:imum|\.)?(?:\s+of)?|exceeding|beyond|"
    r">=?|≥)"
)
PERCENT = rf"(?P<percent>{NUMBER})\s*(?:%|percent\b|per\s?cent\b|pct\b|percentage\s+points\b)"
SUM = rf"(?P<money>{MONEY})"
N = rf"(?P<n>\d{{1,7}}|{COUNT_WORDS})"
WEEKDAYS = "|".join(day_name)
SHORT_DAYS = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\.?"
PERIOD = r"(?:h|hr|hrs|hours?|days?|weeks?|months?|quarters?|years?|yrs?|min|minutes?)"


def counted(text: str) -> int:
    """A whole number in digits or as a word."""
    return int(text) if text.isdigit() else COUNTS[text.casefold()]
