"""Marshmallow fields for what prices know: moments, terms of commitments, discounts, currencies and their rates."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from decimal import Decimal

from marshmallow import ValidationError

from api.questions.fields import JsonSchema, Number, Parameter
from api.questions.suggestions import clip
from costcalc.query import Discount, OwnRate

LAST_SECOND = time(23, 59, 59)
TERMS = ("1mo", "3mo", "6mo", "1y", "2y", "3y", "5y")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[ +-]\d\d:\d\d)?)?", re.ASCII)


class Moment(Parameter):
    """An ISO date, which means its last second in UTC, or a date-time, in UTC unless it names an offset."""

    def parse(self, text: str) -> datetime:
        """The moment, aware, in UTC."""
        try:
            if not _MOMENT.fullmatch(text):
                raise ValueError
            return self._moment(text)
        except (ValueError, OverflowError):
            raise ValidationError(f"{clip(text)}: write a date such as 2018-04-26, or 2018-04-26T12:00:00Z") from None

    @staticmethod
    def _moment(text: str) -> datetime:
        day, clock = text[:10], text[11:]
        if not clock:
            return datetime.combine(datetime.fromisoformat(day), LAST_SECOND, UTC)
        moment = datetime.fromisoformat(f"{day}T{clock.replace(' ', '+')}")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

    def schema(self) -> JsonSchema:
        """A date or a date-time since 2017, the first whole year of prices; the calendar's rules as far as a pattern goes."""
        days = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])"
        return {
            "type": "string",
            "pattern": f"^20(1[7-9]|[2-9][0-9])-({days})(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?$",
        }


class Terms(Parameter):
    """Lengths of commitments."""

    listed = True

    def parse(self, text: str) -> str:
        """The term in its one spelling."""
        term = text.lower()
        days = term.removesuffix("d")
        if term in TERMS:
            return term
        if term.endswith("d") and days.isascii() and days.isdigit() and 0 < int(days) <= 3660:
            return f"{int(days)}d"
        raise ValidationError(f"unknown term {clip(text)}: write {', '.join(TERMS)} or a number of days such as 14d")

    def schema(self) -> JsonSchema:
        """The spellings."""
        return {"type": "string", "pattern": "^(1mo|3mo|6mo|1y|2y|3y|5y|[1-9][0-9]{0,2}d)$"}


class Discounts(Parameter):
    """Own discounts, a fraction or `provider:fraction`; where several are given for the same offers the largest counts."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[Discount, ...]:
        ascending = sorted(super()._list(texts), key=lambda discount: discount.fraction)
        largest = {discount.provider: discount for discount in ascending}
        return tuple(largest[provider] for provider in sorted(largest, key=lambda provider: provider or ""))

    def parse(self, text: str) -> Discount:
        """The discount."""
        provider, colon, fraction = text.rpartition(":")
        number = Number(Decimal, 0, 1, self.meaning, open_high=True, example="0.12 or aws:0.12")
        if colon and not provider.strip():
            raise ValidationError(f"{clip(text)}: write a fraction such as 0.12, or aws:0.12")
        return Discount(number.parse(fraction.strip()), provider.strip().lower() or None)

    def schema(self) -> JsonSchema:
        """Both forms."""
        return {"type": "string", "pattern": r"^(aws:|gcp:|azure:)?0(\.[0-9]{1,9})?$"}


class OwnRates(Parameter):
    """Own exchange rates, `currency:units for one US dollar`; of several for one currency the last counts."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[OwnRate, ...]:
        by_currency = {rate.currency: rate for rate in super()._list(texts)}
        return tuple(by_currency[code] for code in sorted(by_currency))

    def parse(self, text: str) -> OwnRate:
        """The rate."""
        code, colon, units = (part.strip() for part in text.partition(":"))
        if not colon or code.upper() == "USD":
            raise ValidationError(f"{clip(text)}: write units of a currency for one US dollar, such as EUR:0.92")
        number = Number(Decimal, 0, 10**9, self.meaning, open_low=True, example="EUR:0.92")
        return OwnRate(Currency(self.meaning).parse(code), number.parse(units))

    def schema(self) -> JsonSchema:
        """A few currencies."""
        return {"type": "string", "pattern": r"^(EUR|GBP|JPY|CHF):[1-9][0-9]{0,3}(\.[0-9]{1,6})?$"}


class Currency(Parameter):
    """An ISO 4217 code."""

    def parse(self, text: str) -> str:
        """The code in capitals."""
        code = text.upper()
        if not (len(code) == 3 and code.isascii() and code.isalpha()):
            raise ValidationError(f"{clip(text)}: write an ISO 4217 code such as USD or EUR")
        return code
