"""The use case that every edge calls: a query string becomes a question, and the question an answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from marshmallow import Schema
from msgspec.structs import replace

from api.budget import check
from api.questions.asked import not_come, query_of, too_early
from api.questions.built_in import built_in
from api.questions.currencies import exchange_rates
from api.questions.described import DescribedSubject, OwnImagesSubject, TimedSubject
from api.questions.errors import BadParameters, Errors, NotFound, NotReady
from api.questions.language import LanguageSubject
from api.questions.names import Known, known
from api.questions.parsing import Arguments, parse
from api.questions.regions import located
from api.questions.resolving import resolve
from api.questions.schemas.layout import Layout, layout
from api.questions.schemas.training import CostSchema
from api.questions.stated import PublishedSubject, StatedSubject
from api.questions.subject import Subject, without_precision
from api.questions.subjects import ImageNetSubject, OwnRunSubject, TaskSubject
from api.questions.suggestions import Guesses, clip, either, not_by_its_layers
from api.stored import FixedPrices, KnownRuns, StoredRuns, StoredSignIns, WatchedPrices
from api.version import code_version
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.owning import owned_offer
from costcalc.costing.storage_and_egress import Market
from costcalc.estimate import Asked, TooFarBehind
from costcalc.evidence import Evidence, normalised
from costcalc.evidence.published_runs import PAPER
from costcalc.hardware import Accelerator, Machine
from costcalc.memory import Few, Memory
from costcalc.money import US_DOLLAR
from costcalc.offer import Offer
from costcalc.query import EstimateQuery, OwnMachine
from costcalc.tasks.known import TaskEvidence, find_task, of_benchmark
from costcalc.tasks.tables import Task, tasks
from costcalc.training import Model
from own_runs import this_machine
from own_runs.asking import OwnModel, own_models
from own_runs.by_word import Described, Stated
from own_runs.runs import RUN, digest_of, with_own_speeds
from own_runs.tokens import TokenTraining
from pricing import exchange_rates as exchange
from pricing.packaged.providers import whole_hours_assumed
from pricing.packaged.purchases import bought, electricity
from pricing.packaged.rate_moves import rate_moves
from pricing.packaged.starts import starts
from pricing.packaged.storage_and_egress import storage_and_egress_rates
from pricing.store.local_file import OwnRun

if TYPE_CHECKING:  # the reading of sentences stays out of a command that asks in none
    from api.questions.words.understanding import Understanding
    from api.questions.words.vocabulary import Vocabulary

COST = CostSchema()
NOTHING_RUN = KnownRuns()
UNKNOWN_NETWORK = (
    "/models lists them; for another, ask model=any with epochs= and its speed or size; "
    "costcalc recipes add takes your log"
)
OWN_CATALOGUES_KEPT = 4
ASKERS_KEPT, ASKER_BYTES, NAMES_BYTES = 8, 100_000, 2_000_000
TASKS_KEPT, TASKS_BYTES = 20, 2_000_000
DESCRIBED_KEPT, DESCRIBED_BYTES = 8, 100_000


@dataclass(frozen=True)
class Service:
    """Answers questions from evidence and prices, at the time of a clock.

    `sources` are the providers of the price sources; `watch` is called with each answer. `runs` knows what people ran or
    measured; `keeper` stores that, and `sign_ins` who is signed in: None where nothing can be stored. `own` has the training runs
    that the asker may see, by `normalised` name; `own_version` changes with their content, `runs_version` with any change of
    theirs. `user` is who asks without a token: runs shared by this name are their own. Answers to all users share the `memory`.
    """

    evidence: Evidence
    prices: WatchedPrices | FixedPrices
    clock: Callable[[], datetime]
    sources: tuple[str, ...] = ()
    watch: Callable[[Answer], None] = lambda _: None
    runs: StoredRuns | KnownRuns = NOTHING_RUN
    keeper: StoredRuns | None = None
    sign_ins: StoredSignIns | None = None
    own: Mapping[str, OwnModel] = field(default_factory=dict)
    own_version: str = ""
    runs_version: str | None = None
    user: str | None = None
    memory: Memory = field(default_factory=Memory)
    _seen_by: Few[tuple[str, str], Service] = field(init=False, default_factory=lambda: Few(ASKERS_KEPT, ASKER_BYTES))
    _names: Few[str, Known] = field(init=False, default_factory=lambda: Few(1, NAMES_BYTES))
    _words: Few[str, Vocabulary] = field(init=False, default_factory=lambda: Few(1, NAMES_BYTES))
    _of_tasks: Few[str, TaskEvidence] = field(init=False, default_factory=lambda: Few(1, TASKS_BYTES))
    _task_names: Few[tuple[str, str], Known] = field(init=False, default_factory=lambda: Few(TASKS_KEPT, NAMES_BYTES))
    _described: Few[Described | Stated | TokenTraining, Evidence] = field(
        init=False, default_factory=lambda: Few(DESCRIBED_KEPT, DESCRIBED_BYTES)
    )

    def changed(self, **parts: Any) -> Service:
        """The same with other parts, remembering nothing."""
        return dataclasses.replace(self, **parts)

    def catalogue(self) -> Catalogue:
        """The last good snapshot. Raises NotReady before the first one."""
        return self.prices.catalogue()

    def seen_by(self, owner: str | None) -> Service:
        """The same service beside what the user measured, once there are prices; `owner` is what the store has in place of a
        token."""
        version = self.runs.version(owner)
        if version == self.runs_version:
            return self
        try:
            catalogue = self.catalogue()
        except NotReady:
            return self
        name = version, catalogue.snapshot
        return self._seen_by.recall(name, self._beside, owner, version, catalogue)

    def _beside(self, owner: str | None, runs_version: str, catalogue: Catalogue) -> Service:
        runs = self.runs.seen_by(owner)
        if not runs:
            return self if runs_version == self.runs.version(None) else self.changed(runs_version=runs_version)
        evidence, names = with_own_speeds(self.evidence, runs), self.names(catalogue)
        whose = partial(self.sharer, owner)
        own = own_models(runs, evidence, whose, lambda name: built_in(name, self.evidence, names) is not None)
        version = digest_of(run for run in runs if run.kind == RUN)
        return self.changed(evidence=evidence, own=own, own_version=version, runs_version=runs_version)

    def sharer(self, owner: str | None, row: OwnRun) -> str | None:
        """Who shared a run with this owner; None where it is their own."""
        is_own = row.owner == owner if owner else row.owner is None and row.shared_by in (None, self.user)
        return None if is_own else row.shared_by

    def at(self, catalogue: Catalogue, *moments: datetime | None) -> Catalogue:
        """The catalogue if it knows these moments, else one that does. Raises NotReady while the store cannot be reached."""
        if all(map(catalogue.knows, moments)):
            return catalogue
        return self.prices.catalogue_at(tuple(moment for moment in moments if moment is not None))

    def with_history(self, catalogue: Catalogue, instance_types: Iterable[str]) -> Catalogue:
        """The catalogue if it knows everything, else all that was ever observed of these machine types. Raises NotReady."""
        return self.prices.history(tuple(instance_types)) if catalogue.known_since else catalogue

    def names(self, catalogue: Catalogue, task: Task | None = None) -> Known:
        """The names that filters may use with a snapshot, in questions about a task or about all else; made once for each."""
        own = (each.run.name for each in self.own.values())
        names = self._names.recall(catalogue.snapshot, known, self.evidence, catalogue, self.sources, own)
        if task is None:
            return names
        recipes = tuple(recipe.name for recipe in self._tasks.of(task).recipes)
        return self._task_names.recall((catalogue.snapshot, task.name), partial(replace, names, recipe=recipes))

    def words(self, catalogue: Catalogue) -> Vocabulary:
        return self._words.recall(catalogue.snapshot, self._vocabulary, self.names(catalogue))

    def _vocabulary(self, names: Known) -> Vocabulary:
        from api.questions.words.vocabulary import Vocabulary

        own = [each.model for each in self.own.values()]
        models = (*self.evidence.models.values(), *own)
        named = frozenset(each.name for each in own)
        spelt = {alias: task.name for task in tasks().values() for alias in (*task.aliases, task.name)}
        return Vocabulary(names, models, exchange.current_currencies(), named, spelt)

    def understand(self, sentence: str, catalogue: Catalogue) -> Understanding:
        """The question in a sentence. Raises BadParameters for one that is too long."""
        from api.questions.words.understanding import understand

        return understand(sentence, self.words(catalogue), self.clock().date())

    def question(self, arguments: Arguments, catalogue: Catalogue) -> tuple[EstimateQuery, Layout]:
        """The question that a query string asks. Raises BadParameters, or NotFound when only the model is unknown."""
        values, form = self.parse(COST, arguments, catalogue)
        return query_of(values), form

    def parse(
        self, schema: Schema, arguments: Arguments, catalogue: Catalogue, guesses: Guesses | None = None
    ) -> tuple[Any, Layout]:
        """The values of the parameters, with names in our spelling, as `Values` or another of its kind, and the layout.

        Raises BadParameters, or NotFound when only the model is unknown.
        """
        guesses, subject = guesses or Guesses(), self.subject(schema, arguments)
        values, errors = parse(schema, subject.common(schema, arguments), guesses, subject.may_lack)
        values, misnamed = resolve(values, self.names(catalogue, subject.task), guesses)
        form = layout(values)
        late = not_come(values, arguments, self.clock())
        errors |= without_precision(values, self.evidence.accelerators)
        errors = {**errors, **misnamed, **late, **too_early(values.get("as_of"), catalogue)}
        values, errors = subject.settled(schema, arguments, values, errors)
        if isinstance(values.get("model"), str):
            values["model"] = self._model(values["model"], errors, guesses)
        if errors:
            raise BadParameters(errors)
        return values, form

    def subject(self, schema: Schema, arguments: Arguments) -> Subject:
        """What a question is about, by the model that it names and by what it says of it."""
        named = arguments.get("model")
        if named and named[0].strip().casefold().startswith(PAPER):
            return PublishedSubject.of(named[0])
        of_images = bool(named and self.evidence.find_model(named[0]))
        kinds = (StatedSubject, OwnImagesSubject if of_images else LanguageSubject, LanguageSubject)
        described = (kind() for kind in kinds if kind.is_meant(schema, arguments))
        if subject := TimedSubject.find(schema, arguments) or next(described, None):
            return subject
        if own := named and self.own.get(normalised(named[0])):
            return OwnRunSubject(own)
        if task := named and not of_images and find_task(named[0]):
            return TaskSubject(task, self.clock())
        if DescribedSubject.is_meant(schema, arguments):
            return DescribedSubject()
        return ImageNetSubject.of(self.evidence, schema, arguments)

    def check(self, schema: Schema, arguments: Arguments) -> Any:
        """The values of parameters that need no prices. Raises BadParameters."""
        values, errors = parse(schema, arguments, Guesses())
        if errors:
            raise BadParameters(errors)
        return values

    def current_state(self, owner: str | None) -> str | None:
        """The state in which this owner is answered now; None before the first snapshot."""
        try:
            return self._state(self.prices.catalogue().snapshot, self.runs.version(owner))
        except NotReady:
            return None

    def state(self, snapshot: str) -> str:
        """Changes with the snapshot, and with anything measured that the asker sees: while it stays, so do all answers."""
        return self._state(snapshot, self.runs.version(None) if self.runs_version is None else self.runs_version)

    @staticmethod
    def _state(snapshot: str, runs_version: str) -> str:
        return f"{snapshot}/{code_version()}/{runs_version}"

    def version(self, snapshot: str) -> str:
        """Identifies all that an answer depends on: the snapshot, the evidence and the code."""
        return f"{snapshot}/{self.evidence.version}{self.own_version}/{code_version()}"

    def model(self, name: str) -> Model:
        """The model of that name or alias. Raises NotFound naming the nearest."""
        return self._model(name, {}, Guesses())

    def _model(self, name: str, errors: Errors, guesses: Guesses) -> Model:
        evidence, task = self.evidence_about(name), find_task(name)
        model = evidence.find_model(name) or (task and evidence.find_model(task.name))
        if model:
            return model
        from api.questions.words.tables import COVERED, OWN_RUN, other_network

        other = other_network(name)
        told = not_by_its_layers(name) or (other and f"{clip(name)} is {other.kind}; {COVERED}; {OWN_RUN}")
        if several := of_benchmark(name):
            told = f"{clip(name)} is a benchmark: ask for one of its tasks, {either(several)}"
        if told:
            raise NotFound(told, "model")
        if len(shared := self._shared_as(name)) > 1:
            told = f"several share runs as {clip(name)}: write {either(shared)}"
            raise NotFound(told, "model")
        own = {one.run.name: one.run.name for one in self.own.values()}
        trained = {name: each for name, each in self.evidence.suggested.items() if self.evidence.recipes_of(each)}
        near = guesses.nearest(name, own | trained)
        suggested = own | (trained if near else self.evidence.suggested)
        message = guesses.unknown("model", name, suggested, UNKNOWN_NETWORK, suggested)
        if errors:
            raise BadParameters({"model": [message], **errors})
        raise NotFound(message, "model")

    def _shared_as(self, name: str) -> list[str]:
        """What to call the runs that others share under one name: `my-run.0a1b2c3d (Anna's)`."""
        runs = (own for own in self.own.values() if normalised(own.given_name) == normalised(name))
        return [f"{own.run.name} ({own.shared_by}'s)" for own in runs if own.shared_by]

    def evidence_about(self, model: str) -> Evidence:
        """What answers about a model are made from: of a user's own run that run, of a task its results."""
        if own := self.own.get(normalised(model)):
            return own.evidence
        task = find_task(model)
        return self._tasks.of(task) if task and not self.evidence.find_model(model) else self.evidence

    @property
    def _tasks(self) -> TaskEvidence:
        return self._of_tasks.recall("tasks", TaskEvidence, self.evidence)

    def evidence_for(self, query: EstimateQuery) -> Evidence:
        """What answers to a question are made from: of a training that it describes itself, what it says."""
        described = Stated.of(query) or TokenTraining.of(query) or Described.of(query)
        beside = self.evidence if query.method else self.evidence_about(query.model)
        return self._described.recall(described, described.evidence, beside) if described else beside

    def answer(self, query: EstimateQuery, catalogue: Catalogue) -> Answer:
        return self.answered(self.asked(query, catalogue))

    def answered(self, asked: Asked) -> Answer:
        """The answer to what was asked, of which those who watch are told. Raises BadParameters for an offset too far behind, and
        Spent where the request has had its share of the processor."""
        check()
        try:
            found = asked.answer()
        except TooFarBehind as error:
            raise BadParameters({"offset": [str(error)]}) from None
        self.watch(found)
        return found

    def asked(self, query: EstimateQuery, catalogue: Catalogue) -> Asked:
        """A checked question with what it is answered from: the catalogue holds the user's own machines, and no later prices; the
        processor that it is worked out on is known where the question names it."""
        now = self.clock().replace(microsecond=0)
        catalogue, day = self.at(catalogue, query.as_of), (query.as_of or now).date()
        query = located(query, catalogue, query.as_of or now, self.sources).query
        rates = exchange_rates(query.currency, catalogue.vocabulary.currencies, day, query.fx)
        if query.own:
            catalogue = _with_offers(catalogue, self.own_offers(query))
        evidence = self.evidence_for(query)
        if any(own.accelerator == this_machine.name() for own in query.own):
            evidence = this_machine.with_this_machine(evidence)
        return Asked(
            query,
            evidence,
            catalogue,
            now,
            Market(rates, storage_and_egress_rates(), whole_hours_assumed(), rate_moves()),
            self.memory,
            starts,
        )

    def own_offers(self, query: EstimateQuery) -> tuple[Offer, ...]:
        """The machines that the user owns. Raises BadParameters for one whose price or watts nobody knows."""
        as_of = query.as_of or self.clock().replace(microsecond=0)
        rates = exchange_rates(query.currency, (), as_of.date(), query.fx)
        per_usd = {"USD": US_DOLLAR, **rates}[query.currency].per_usd
        try:
            return tuple(self._own_offer(own, query, as_of, per_usd) for own in query.own)
        except LookupError as error:
            raise BadParameters({"own": [str(error)]}) from None

    def _own_offer(self, own: OwnMachine, query: EstimateQuery, as_of: datetime, per_usd: Decimal) -> Offer:
        chip = self.evidence.accelerators.get(own.accelerator) or Accelerator.unlisted(own.accelerator)
        machine = Machine(own.accelerator, own.accelerators, chip.memory_gib, query.own_vcpus)
        return owned_offer(query, machine, bought(own, chip, query, as_of, per_usd), electricity(query, per_usd))


_with_offers = lru_cache(OWN_CATALOGUES_KEPT)(Catalogue.with_offers)
