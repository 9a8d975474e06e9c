"""From the text of a command to the message that answers it: usage, lists, an answer, or what to type instead."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from cachetools import FIFOCache
from msgspec import Struct, field
from msgspec.structs import replace

from api.forms.ask import AskReport
from api.questions.asked import with_moment
from api.questions.errors import NotReady, Refused
from api.questions.links import narrowed, to_url
from api.questions.schemas.layout import Layout
from api.reports.rates import RatesDocument
from api.service import Service
from api.slack import answers
from api.slack import blocks as slack_blocks
from api.slack.blocks import Links
from api.slack.message import Message, escape, link
from costcalc.answers import Answer
from costcalc.query import DECLARED

MOST_SHOWN = 50
MOST_KEPT = 256
HELP = ("", "help", "usage", "?")
EXAMPLES = (
    ("/cost resnet50 0.757", "the five cheapest estimates"),
    ("/cost resnet50 75.7% on gcp spot under $50 within 4h", "in plain words"),
    ("/cost resnet50 top-5 93% on 8 H100 share", "shows the answer to the whole channel"),
    (
        "/cost resnet50 0.757 provider=aws,gcp purchase=committed_use term=1y currency=EUR",
        "any parameter as name=value",
    ),
    ("/cost trend resnet50 0.757", "what it cost before: any command of a terminal, by its name"),
    ("/cost models", "the models; with a name, its recipes and the accuracy that each reaches"),
    ("/cost tasks", "what can be trained besides networks on ImageNet"),
)
TRY = "Try `/cost resnet50 0.757`, or `/cost help`."
_HERE = (
    ("costcalc models lists", "/models lists"),
    ("/models lists", "/cost models lists"),
    ("see /docs for", "/cost help shows"),
)
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
                return Replies(_usage(base))
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
            return Replies(_complaint(refused.lines))

    def _answered(self, service: Service, text: str, base: str) -> Replies:
        catalogue = service.catalogue()
        if asked := answers.asked_by_name(text):
            picture = answers.picture(asked, base) if self.pictures else None
            return Replies(answers.answer(service, asked, base), picture)
        meant, cost, layout, rates = AskReport(service, catalogue, text).answered
        if rates:
            return Replies(_rates(rates, meant.lines, base))
        if cost is None:
            return Replies(_complaint(list(meant.lines)))
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


def _usage(base: str) -> Message:
    """Examples, and the names of the parameters that are used most."""
    shown = "\n".join(f"`{escape(typed)}`  {meaning}" for typed, meaning in EXAMPLES)
    usual = (name for name, each in DECLARED.items() if each.param.use == "everyday" and each.param.part != "goal")
    names = ", ".join(f"`{name}`" for name in usual)
    more = link(f"{base}/docs#get_cost", "all parameters")
    return Message.of(f"*What will a training cost, and how long will it take?*\n{shown}\nMost used: {names}; {more}.")


def _complaint(messages: list[str]) -> Message:
    """What was not understood, and what to type."""
    lines = "\n".join(f"• {escape(_here(line))}" for line in messages)
    return Message.of(f"{lines}\n{TRY}")


def _rates(document: RatesDocument, lines: Sequence[str], base: str) -> Message:
    """What machines cost an hour, and where all rates are."""
    told = "\n".join(map(escape, (*document.verdict, *lines)))
    return Message.of(f"{told}\n{link(f'{base}{document.link}', 'every rate')}")


def _here(line: str) -> str:
    """What HTTP's messages point to, as it is called here."""
    for there, here in _HERE:
        line = line.replace(there, here)
    return line
