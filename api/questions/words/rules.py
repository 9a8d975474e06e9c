"""Every rule, in the order in which they are tried."""

from __future__ import annotations

from api.questions.words.dates import DATE_RULES
from api.questions.words.shares_and_money import SHARES_AND_MONEY
from api.questions.words.times_and_counts import TIMES_AND_COUNTS

RULES = (*SHARES_AND_MONEY, *DATE_RULES, *TIMES_AND_COUNTS)
