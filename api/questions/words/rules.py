"""Every rule, in the order in which they are tried."""

from __future__ import annotations

import re
from functools import cache

from api.questions.words.dates import DATE_RULES
from api.questions.words.scan import Rules
from api.questions.words.shares_and_money import SHARES_AND_MONEY
from api.questions.words.times_and_counts import TIMES_AND_COUNTS


@cache
def rules() -> Rules:
    """The rules, compiled when the first sentence comes: the commands that read none do not wait a tenth of a second for it."""
    texts = (*SHARES_AND_MONEY, *DATE_RULES, *TIMES_AND_COUNTS)
    return tuple((re.compile(text, re.IGNORECASE), understand) for text, understand in texts)
