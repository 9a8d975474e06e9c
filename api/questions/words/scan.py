"""One pass over a sentence: at each place a rule, a name or a number is read, or else asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from api.questions.amounts import COUNTS, NUMBER, number
from api.questions.spellings import MAKERS
from api.questions.words.patterns import END, WORDS, compiled, counted
from api.questions.words.reading import Reading
from api.questions.words.tables import COVERED, OWN_RUN, Value, not_asked, other_networks
from api.questions.words.vocabulary import Named, Vocabulary
from costcalc.evidence.published_runs import published_as
from pricing.packaged.providers import known_provider

_KEEPS_MINE = (
    "a an the old new single only some just already got of server box lab team group company office university has have cluster "
    "machine machines rig workstation desktop pc"
)
KEEPS_MINE = frozenset([*_KEEPS_MINE.split(), "owns"])
MOST_ASKED = 10
NUMBER_OF = "a number of what? Write for example 76%, 8 GPUs, under $50 or within 8 hours"
LEAVES_OUT = "what it leaves out is not understood; write for example not aws, or no spot"
NOT_LEFT_OUT = "this cannot be left out; say what is wanted instead"
USUAL_IN_ONE = 8
"""Accelerators of a server, where a number of servers is said and not what is in one."""
LEAST_SECOND = 50
BETWEEN_TARGETS = frozenset(["to", "or", "and", "then", "than", "vs", "versus", "against"])
COUNTS_OF_CHIPS = (24, 32, 48, 56, 64, 96)
USUAL_COUNTS = frozenset([1, 2, 3, 4, 6, 8, 16])
"""Numbers before a chip that nobody means as a percentage."""
BEFORE_PLACES = frozenset(
    [
        "in",
        "the",
        "from",
        "within",
        "inside",
        "across",
        "only",
        "or",
        "and",
        "but",
        "is",
        "than",
        "region",
        "location",
        "leave",
    ]
)
_WHERE = re.compile(r"\b(?:on|in|near|from|around|at|region|location|inside|outside)\s+(?:the\s+)?$", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:by|before|until|till|since|after|in)\s+(?:an?\s+|the\s+)?$", re.IGNORECASE)
_PERCENT_OF = re.compile(r"%\s*(?:of\s+)?$")  # something else than an accuracy
_LAST_WORD = re.compile(r"([\w']+)\s*$")
_GAP = re.compile(r"[\s,;/]+")
_WORD = re.compile(r"[^\s,;/]+")
_COUNT = re.compile(
    rf"(?:(?P<number>\d{{1,7}})|(?P<word>{WORDS}))(?:(?P<sign>\s*[x×*]\s*)|(?:\s+of)?[\s-]*)(?:(?:gpus?|nvidia|rented|cheap|new|used|fast|big)\s+)*",
    re.I,
)
_TIMES = re.compile(
    rf"\s*[x×*]\s*(\d{{1,7}}){END}|\s+(\d{{1,3}})\s?[x×](?:\s+|{END})|\s+([1248]|16)(?=\s*(?:$|[,;])|"
    r"\s+(?:on|at|in|from|with|to|for)\b)",
    re.IGNORECASE,
)
"""A count after a name: `H100 x 8`, `H100 8x`, `H100 8`."""
_MACHINES = re.compile(rf"[\s-]+(?:servers|machines|nodes|boxes|instances|hosts|vms){END}", re.IGNORECASE)
"""What makes a count before a name one of machines: `16 H100 servers`, but not `8 A100 server`."""
_NODES_BEHIND = re.compile(
    rf"\s*[,;(]?\s*(?:[x×*]\s*)?((?:[2-9]|\d{{2,4}})\s*(?:nodes|machines|servers|boxes|hosts)){END}", re.I
)
_ONE = r"(?:[1-9]|1\d|24|32|48|64|128|256|512|1024)\s?[x×]?"
_NUMBERS = re.compile(
    rf"(?:{_ONE}(?:\s*,\s*(?:or|and)?|\s*/|\s+(?:or|and|vs\.?|versus|against))\s*)+{_ONE}[\s-]*(?=[a-z])", re.I
)
_GPUS = compiled("{of_gpus}")
_AGAIN = re.compile(r"\b(?:or|vs\.?|versus|and)(?:\s+(?:are|is|with|on|do|would|will|just|only))*\s+$", re.IGNORECASE)
_BARE = re.compile(rf"[+-]?{NUMBER}{END}")
_ORNAMENT = re.compile(r"[^\w<>@#]+|:[\w+-]+:")  # signs and emoji, as themselves or as Slack spells them
_GOES_ON = re.compile(r"\s*(?:,?\s*(?:n?or|and)\b|[/&])\s*", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_WISHED = re.compile(r"\s+(?:only|instead|preferably|preferred|is\s+(?:fine|ok(?:ay)?))\b", re.IGNORECASE)
_LIKE_A_NAME = re.compile(r"\w[_-]\w")
_ON = re.compile(r"\b(?:on|with|using|by|of)\s*$", re.IGNORECASE)

Understand = Callable[["Scan", "re.Match[str]"], bool]
Rules = Iterable[tuple[re.Pattern[str], Understand]]


def asks(message: str, stops: bool | None = None) -> Understand:
    """A rule for words that cannot be asked about; it says what to type."""
    return lambda scan, match: scan.ask(match[0], message, stops)


@dataclass
class Scan:
    """Where the pass stands in a text. `negated` holds from a word such as `not` to what it excludes, `mine` from one such as
    `my` to the accelerators that it is said of, `at_most` from words such as these to the number that they are said of. `clause`
    has what this clause names that may be excluded."""

    text: str
    words: Vocabulary
    today: date
    rules: Rules
    reading: Reading = field(default_factory=Reading)
    place: int = 0
    negated: str = ""
    mine: bool = False
    at_most: bool = False
    clause: list[Value] = field(default_factory=list)

    def run(self) -> Reading:
        """Reads the whole text."""
        while self.place < len(self.text):
            gap = _GAP.match(self.text, self.place)
            if gap:
                if "," in gap[0] or ";" in gap[0]:
                    self._end_negation()
                    self.mine = False
                    self.clause.clear()
                self.place = gap.end()
            elif not (self._listed() or self._ruled() or self._counted() or self._named() or self._number()):
                self._unknown()
        self._end_negation()
        return self.reading

    def add(self, name: str, text: str) -> bool:
        """Adds a parameter's value for a rule."""
        self.reading.put(name, text)
        return True

    def ask(self, text: str, message: str, stops: bool | None = None) -> bool:
        """Asks back about words that a rule read but cannot answer."""
        self.reading.ask(text, message, stops)
        return True

    def exclude_clause(self) -> bool:
        """Leaves out what this clause names: `aws is not an option`."""
        for value in self.clause:
            self.reading.take_out(value)
        excluded = bool(self.clause)
        self.clause.clear()
        return excluded

    def count(self, name: str, many: int) -> bool:
        """Adds a number of accelerators or machines, or the maximum."""
        limited, self.at_most = self.at_most, False
        return self.add(f"max_{name}" if limited else name, str(many))

    def _end_negation(self) -> None:
        if self.negated.casefold() == "no" and self.place < len(self.text):
            self.reading.ignored.append(self.negated)  # `no, I mean 8`
        elif self.negated:
            self.reading.ask(self.negated, LEAVES_OUT, stops=True)
        self.negated = ""

    def _network_ends(self) -> int:
        """Where a network ends whose name begins here with a number: `3d u-net` is no three days."""
        named = self.words.find(self.text, self.place) if self.text[self.place].isdigit() else None
        return named.end if named and named.values[0].parameter == "model" else 0

    def _ruled(self) -> bool:
        network_ends = self._network_ends()
        for pattern, understand in self.rules:
            match = pattern.match(self.text, self.place)
            if match and match.end() > max(self.place, network_ends):
                negated, self.negated = self.negated, ""
                if negated and "=" not in match[0]:
                    self.reading.ask(f"{negated} {match[0]}", NOT_LEFT_OUT, stops=True)
                elif not understand(self, match):
                    self.negated = negated
                    continue
                self.place, self.mine = match.end(), self.mine and not match[0].strip()
                return True
        return False

    def _listed(self) -> bool:
        """Each of several numbers before a name gets it: `2x, 4x and 8x A100`. It is read then."""
        numbers = _NUMBERS.match(self.text, self.place)
        if not numbers:
            return False
        gpus, named = _GPUS.match(self.text, numbers.end()), self.words.find(self.text, numbers.end(), MACHINE)
        if end := gpus.end() if gpus else named.end if named else 0:
            each = [f"{count} {self.text[numbers.end() : end]}" for count in re.findall(r"\d+", numbers[0])]
            self.text = f"{self.text[: self.place]}{' or '.join(each)}{self.text[end:]}"
        return False

    def _counted(self) -> bool:
        """`8 H100`, `eight A100s`, `8xH100`: a number of accelerators, or of machines, then their name."""
        count = self._count()
        named = count and self.words.find(self.text, count.end(), ("accelerator", "instance_type"))
        if not count or not named or self._is_target(count, named):
            return False
        if not count["sign"] and self.words.find(self.text, self.place, ("accelerator",)):
            return False  # `3090 T4` are two chips
        begin, many = self.place, counted(count["number"] or count["word"])
        self._take(named, many)
        nodes = _NODES_BEHIND.match(self.text, self.place) if count["sign"] and many <= USUAL_IN_ONE else None
        if nodes:  # `8xH100 2 nodes`, but not `8 H100 on 2 nodes`
            self.reading.each, self.place = True, nodes.start(1)
            self.reading.corrected.append((self.text[begin : nodes.end()], f"{nodes[1]} with {many} each"))
        return True

    def _count(self) -> re.Match[str] | None:
        """A number, before which the kind of purchase is put that stands after it: `8 spot H100s`."""
        count = _COUNT.match(self.text, self.place)
        kind = count and self._of_kind(count.end(), "purchase")
        if not count or not kind or not self.words.find(self.text, kind.end + 1, MACHINE):
            return count
        kind_first = f"{self.text[count.end() : kind.end]} {count[0]}"
        self.text = f"{self.text[: self.place]}{kind_first}{self.text[kind.end + 1 :]}"
        return None

    def _is_target(self, count: re.Match[str], named: Named) -> bool:
        """Whether the number before a name is not of it: `76 3090`, or `resnet50 76 a100` where no other target is said."""
        if not count["number"] or count["sign"]:
            return False
        many = int(count["number"])
        if many in COUNTS_OF_CHIPS or any(
            model in self.words.tasks.values() for model in self.reading.values.get("model", ())
        ):
            return False
        alone = not named.text[0].isdigit() and ("target" in self.reading.values or "%" in self.text)
        on = _ON.search(self.text, 0, self.place) if not named.text[0].isdigit() else None
        return many >= 20 and many <= 100 and not (alone or on)

    def _named(self) -> bool:
        named = self.words.find(self.text, self.place)
        if named is None:
            return False
        mark = named.values[0].parameter
        if mark == "filler" or (named.text == "us" and not self.negated and self._is_pronoun()):
            self._fill(named)
        elif mark == "not":
            self._end_negation()
            self.negated, self.place = named.text, named.end
        elif mark == "mine":
            self.mine, self.place = True, named.end
            self.reading.ignored.append(named.text)
        else:
            self._take(named, 0)
        return True

    def _is_pronoun(self) -> bool:
        """Whether `us` are people: after a word such as `charge`, but not `in` or `the`."""
        before = _LAST_WORD.search(self.text, 0, self.place)
        word = before[1].casefold() if before else ""
        return word not in BEFORE_PLACES and self.words.is_filler(word)

    def _fill(self, named: Named) -> None:
        self.reading.ignored.append(named.text)
        self.mine = self.mine and named.text.casefold() in KEEPS_MINE
        self.place = named.end

    def _take(self, named: Named, many: int) -> None:
        """The values of a name or phrase, excluded where it is negated; a user's own machine where it is theirs."""
        kind, mine, self.place = named.values[0].parameter, self.mine, named.end
        is_count = many and kind == "accelerator" and not self.reading.each  # of two 8xA100 machines, 8 is none
        machines = _MACHINES.match(self.text, self.place) if is_count else None
        self.place = machines.end() if machines else self.place
        after = _TIMES.match(self.text, self.place) if kind in ("accelerator", "instance_type") else None
        if after and not many and not (after[2] and self.words.find(self.text, after.end(), MACHINE)):
            many, self.place = int(after[1] or after[2] or after[3]), after.end()
        self.mine = False
        if kind == "each":
            self.reading.each = True
        elif kind == "owned":
            self.reading.owned = True
        elif kind in ("unasked", "other"):
            self._ask_instead(named, kind)
        elif self.negated:
            self._exclude(named, many)
        elif kind == "accelerator" and mine and named.values[0].text not in MAKERS:
            each = _of_each(named) or (USUAL_IN_ONE if machines else 1)
            self.reading.put("own", f"{(many or 1) * each}x {named.values[0].text.partition(',')[0]}")
        else:
            self.reading.owned |= kind == "accelerator" and mine
            named_before = {*self.reading.values.get("accelerator", ())}
            for value in named.values:
                if not (
                    value.parameter == "accelerator" and named_before & {*value.text.split(",")}
                ):  # `A100 40GB DGX`
                    self.reading.add(value)
            self._count_of(named, many, bool(machines))
            self.clause += named.values if kind in EXCLUDABLE else ()

    def _count_of(self, named: Named, many: int, machines: bool) -> None:
        """A count of an accelerator or a machine, which a sentence may compare with others."""
        kind = named.values[0].parameter
        whole = machines or kind != "accelerator" or _of_each(named)
        self.reading.each |= bool(many and _of_each(named))
        side = {value.parameter: value.text.split(",") for value in named.values}
        nodes = self.reading.values.get("nodes", []) if self.reading.each else []
        if nodes and many and not whole:  # `2 nodes of 8 V100 or 1 of 8 A100`
            side |= {"nodes": nodes[-1:], "accelerators": [str(int(nodes[-1]) * many)]}
        elif many and not self.at_most:
            side["nodes" if whole else "accelerators"] = [str(many)]
        if many:
            self.count("nodes" if whole else "accelerators", many)
        if kind in MACHINE:
            self.reading.machines.append(side)

    def _exclude(self, named: Named, many: int) -> None:
        """Leaves values out."""
        kind = named.values[0].parameter
        if any(value.excluded for value in named.values):  # `without spot and without commitments`
            self.negated = ""
            self.reading.add(named.values[0])
        elif many or kind not in EXCLUDABLE:
            self.reading.ask(f"{self.negated} {named.text}", NOT_LEFT_OUT, stops=True)
            self.negated = ""
        else:
            self.reading.add(named.values[0]._replace(excluded=True))
            self._go_on(kind)

    def _go_on(self, kind: str) -> None:
        """After what is left out `or` and `and` go on with others of its kind, and after `excluding`, or with `or`, of any."""
        negated, self.negated = self.negated, ""
        more = _GOES_ON.match(self.text, self.place) or self._comma_of_list(kind)
        of_any = more and (not kind or negated.casefold() not in ("no", "not") or "or" in more[0].casefold())
        word = _WORD.match(self.text, more.end()) if more else None
        unknown = kind == "provider" and word and known_provider(word[0])
        if more and (unknown or any(self._of_kind(more.end(), each) for each in (EXCLUDABLE if of_any else (kind,)))):
            self.negated, self.place = negated, more.end()

    def _of_kind(self, place: int, kind: str) -> Named | None:
        """The name there, if it is of this kind."""
        named = self.words.find(self.text, place)
        return named if named and named.values[0].parameter == kind else None

    def _comma_of_list(self, kind: str) -> re.Match[str] | None:
        """The comma here in a list of one kind: `without aws, gcp`, but not in `not aws, gcp only`."""
        comma = _COMMA.match(self.text, self.place)
        named = self._of_kind(comma.end(), kind) if comma else None
        return comma if named and not _WISHED.match(self.text, named.end) else None

    def _ask_instead(self, named: Named, kind: str) -> None:
        negated, self.negated = self.negated, ""
        word = named.values[0].text
        if kind == "unasked":
            answer = not_asked()[word]
            self.reading.ask(f"{negated} {named.text}", answer.message, answer.stops)
            return
        network = other_networks()[word]
        self.reading.other_task = True
        self.reading.put("model", network.name)
        self.reading.ask(named.text, f"this is {network.kind}; {COVERED}; {OWN_RUN}", stops=True)

    def _number(self) -> bool:
        """A bare number is the target where it can be one."""
        bare = _BARE.match(self.text, self.place)
        if not bare:
            return False
        value, self.place = number(bare[0]), bare.end()
        self.mine = False
        if value is not None and value >= 1 and self._counts_something(bare):
            self.reading.ask(bare[0], NUMBER_OF)
        elif value is not None and (self._may_be_share(value) or self._may_be_percent(value) or self._is_own(bare[0])):
            self.reading.put("target", bare[0].replace(",", "."))
        elif self._is_year(bare[0]):
            self.reading.put("as_of", bare[0])
        elif bare[0].isdigit() and int(bare[0]) in USUAL_COUNTS and self._counts_again(bare):
            self.count("accelerators", int(bare[0]))
        else:
            self.reading.ask(bare[0], NUMBER_OF)
        return True

    def _counts_something(self, bare: re.Match[str]) -> bool:
        """Whether a number stands beside a word that nobody knows, `50 trials` or `epoch 60`: it is no accuracy."""
        value, before = number(bare[0]) or Decimal(0), self.text[: bare.start()].rstrip()
        if not self._may_be_percent(value) and self._of_kind(bare.end() + 1, "unasked"):
            return True
        if self.reading.asked and before.endswith(self.reading.asked[-1].about):
            return True
        word = _WORD.match(self.text, bare.end() + 1)
        return bool(word and word[0].isalpha() and not self._is_known(word))

    def _is_known(self, word: re.Match[str]) -> bool:
        place = word.start()
        ruled = any(match.end() > place for pattern, _ in self.rules if (match := pattern.match(self.text, place)))
        return ruled or bool(self.words.find(self.text, place) or self.words.corrected(word[0], may_be_place=False))

    def _may_be_share(self, value: Decimal) -> bool:
        return 0 < value < 1 and ("target" not in self.reading.values or self._continues(value))

    def _may_be_percent(self, value: Decimal) -> bool:
        return 20 <= value < 100 and ("target" not in self.reading.values or self._is_second(value))

    def _counts_again(self, bare: re.Match[str]) -> bool:
        """Whether a bare number is another one of the accelerators before: `do I need 8 GPUs or are 4 enough`."""
        last = self.reading.machines[-1] if self.reading.machines else {}
        again = "accelerators" in last and _AGAIN.search(self.text, 0, bare.start())
        if again:
            self.reading.machines.append({**last, "accelerators": [bare[0]]})
        return bool(again)

    def _is_second(self, value: Decimal) -> bool:
        """Whether a bare number continues another target: `to 76 and then to 78`."""
        return value >= LEAST_SECOND and self._continues(value)

    def _continues(self, value: Decimal) -> bool:
        before = _LAST_WORD.search(self.text, 0, self.text.rfind(f"{value}", 0, self.place))
        return before is not None and before[1].casefold() in BETWEEN_TARGETS

    def _is_own(self, text: str) -> bool:
        own = any(map(self.words.has_own_target, self.reading.values.get("model", ())))
        return own and not self._is_year(text)

    def _is_year(self, text: str) -> bool:
        return text.isdigit() and 2012 <= int(text) <= self.today.year

    def _unknown(self) -> None:
        """A misspelt word is read as the known one; any other is asked about."""
        match = _WORD.match(self.text, self.place)
        assert match is not None
        word = match[0]
        if _ORNAMENT.fullmatch(word):
            self.place = match.end()
        elif self.negated and known_provider(word):
            self.reading.ignored.append(f"{self.negated} {word}")  # none of its rates is stored
            self.place = match.end()
            self._go_on("provider")
        elif not self.negated and not self.words.family(word) and (recipes := self.words.recipes_of(word)):
            self.reading.put("recipe", recipes)
            self.place, self.mine = match.end(), False
        elif correction := self._corrected(word) or self._only_one(word):
            self.text = f"{self.text[: self.place]}{correction}{self.text[match.end() :]}"
            self.reading.corrected.append((word, correction))
        else:
            self.mine, self.place = False, match.end()
            before = any(each.search(self.text, 0, match.start()) for each in (_WHERE, _WHEN, _PERCENT_OF))
            is_condition = (
                self.negated or before or known_provider(word) or self.words.family(word) or not word.isascii()
            )
            self.reading.ask(f"{self.negated} {word}", self._hint(word), bool(is_condition) or None)
            self._go_on("") if self.negated else None

    def _corrected(self, word: str) -> str | None:
        """The known word meant; none if another word was already read as it, or after too many unknown words."""
        done = (
            len(self.reading.asked) >= MOST_ASKED
            or word.casefold() in COUNTS
            or any(word == correction for _, correction in self.reading.corrected)
        )
        return None if done else self.words.corrected(word, bool(_WHERE.search(self.text, 0, self.place)))

    def _only_one(self, word: str) -> str | None:
        """The only network whose name begins so, of a word that is hardly English, `convnext-xl`; or the one that begins all
        others of them, `resnest50`."""
        family = self.words.family(word)
        first = min(family, key=len, default="")
        is_one = len(family) > 1 or _LIKE_A_NAME.search(word)
        return first if first and is_one and all(name.startswith(first) for name in family) else None

    def _hint(self, word: str) -> str:
        if len(self.reading.asked) >= MOST_ASKED:
            return "not understood"
        family = self.words.family(word)
        if family:
            return f"which one? Write {', '.join(family[:3])}" + " or another of that name" * (len(family) > 3)
        if provider := known_provider(word):
            return f"no rate of {provider.name} is stored" + f"; {provider.page} has today's" * bool(provider.page)
        if run := published_as(word):
            return f"a published run has this name; ask what it cost with model={run.name}"
        near = self.words.nearest(word)
        return f"not understood; did you mean {near}?" if near else "not understood"


def _of_each(named: Named) -> int:
    """How many accelerators a machine has that a phrase names: 8 of `dgx h100`; 0 of other names."""
    return sum(int(value.text) for value in named.values if value.parameter == "accelerators")


MACHINE = ("accelerator", "instance_type")
EXCLUDABLE = ("provider", "purchase", "accelerator", "place", "region", "instance_type")
