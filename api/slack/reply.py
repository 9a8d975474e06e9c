"""From the text of a command to the message that answers it: usage, lists, an answer, or what to type instead."""

from __future__ import annotations

from threading import Lock

from cachetools import FIFOCache
from msgspec import Struct, field
from msgspec.structs import replace

from api.forms.ask import AskReport
from api.questions.asked import with_moment
from api.questions.errors import NotReady, Refused
from api.questions.links import narrowed, to_url
from api.questions.schemas.layout import Layout
from api.service import Service
from api.slack import answers
from api.slack import blocks as slack_blocks
from api.slack import lists as slack_lists
from api.slack.blocks import Links
from api.slack.message import Message, escape
from costcalc.answers import Answer

MOST_SHOWN = 50
MOST_KEPT = 256
HELP = ("", "help", "usage", "?")
BUSY = "The prices cannot be reached at the moment: ask again in a minute."


class Replies(Struct, frozen=True):
    """The message that answers, and the picture that follows it where one can be shown."""

    answer: Message
    picture: Message | None = None

    def together(self) -> Message:
        """One message with both, for a command without an address that the picture could follow to."""
        more = self.picture.blocks if self.picture else ()
        return replace(self.answer, blocks=(*self.answer.blocks, *more))


class Replier(Struct, frozen=True):
    """Answers texts from one service. `pictures` says whether Slack can fetch one from the base address.

    Answers to a repeated text are kept for the rest of a minute, while prices and evidence stay the same.
    """

    service: Service
    pictures: bool = False
    kept: FIFOCache[tuple[str, ...], Replies] = field(default_factory=lambda: FIFOCache(MOST_KEPT))
    lock: Lock = field(default_factory=Lock)

    def reply(self, text: str, base: str) -> Replies:
        """What to say to this text; never raises for what a person typed, nor for prices that are not there yet."""
        try:
            text = " ".join(text.split())
            if text.lower() in HELP:
                return Replies(slack_lists.usage(base))
            seen = self.service.seen_by(None)  # Slack sends no tokens
            version = seen.version(seen.catalogue().snapshot)
            key = (version, f"{seen.clock():%Y-%m-%dT%H:%M}", base, text)
            replies = self.kept.get(key) or self._answered(seen, text, base)
            with self.lock:
                self.kept[key] = replies
            return replies
        except NotReady:
            return Replies(Message(BUSY))
        except Refused as refused:
            return Replies(slack_lists.complaint(refused.lines))

    def _answered(self, service: Service, text: str, base: str) -> Replies:
        catalogue = service.catalogue()
        if asked := answers.asked_by_name(text):
            picture = answers.picture(asked, base) if self.pictures else None
            return Replies(answers.answer(service, asked, base), picture)
        meant, cost, layout, rates = AskReport(service, catalogue, text).answered
        if rates:
            return Replies(slack_lists.rates(rates, meant.lines, base))
        if cost is None:
            return Replies(slack_lists.complaint(list(meant.lines)))
        links = self._links(cost.answer, layout, base)
        many = min(cost.query.limit, MOST_SHOWN) if "limit" in meant.parameters else None
        answer = slack_blocks.message(cost.answer, links, many, meant.shared).below("\n".join(map(escape, meant.lines)))
        return Replies(answer, slack_blocks.picture(cost.answer, links, meant.shared))

    def _links(self, answer: Answer, layout: Layout, base: str) -> Links:
        """Links to the answer as it is now: messages are read long after they were written; Slack fetches the picture at once."""
        query, excel = answer.query, {"excel": "1"} if layout.excel else {}
        kept = with_moment(query, answer.prices.as_of)
        page, csv, xlsx = to_url(kept, "/"), to_url(kept, "/cost.csv", **excel), to_url(kept, "/cost.xlsx")
        why = base + to_url(narrowed(kept, answer.lead), "/estimate") if answer.picks or answer.owned else None
        picture = base + to_url(query, "/cost.png") if self.pictures else None
        return Links(base, base + page, base + csv, base + xlsx, why, picture)
