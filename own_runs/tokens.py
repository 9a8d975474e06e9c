"""The training of a language model as a question states it: which, how, and on how many tokens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct

from costcalc.evidence import Evidence
from costcalc.evidence.language import find_language_network, language_rates
from costcalc.fields import filled
from costcalc.query import EstimateQuery
from costcalc.recipes import LawRecipe
from costcalc.throughput.language.law import TokenLaw
from costcalc.throughput.language.networks import LanguageNetwork, TokenPrecision, TokenWork
from costcalc.throughput.language.speeds import TokenSpeeds
from costcalc.training import MetricEvaluation, Model, Phase
from own_runs.by_word import BY_WORD
from own_runs.evidence import alone

YEAR = 2026
LENGTH, LENGTH_OF_EXAMPLES = 4096, 1024
PADDED = 1.5
"""Computed tokens for each that counts, where examples of many lengths are padded to the longest of a batch; by rule."""
AS_COMPUTED: Mapping[str | None, TokenPrecision] = {"fp16": "fp16", "fp8": "fp8", "fp32": "fp32", "tf32": "fp32"}
"""Any other precision that a question names is bf16."""
TOKENS_OF_STEP, SEQUENCES_OF_STEP = 2**20, 64
"""Tokens of a step of pretraining, and sequences of one of fine-tuning, where a question leaves that open."""


class TokenTraining(Struct, frozen=True):
    """A way of training a language model, how many tokens are computed in each of its passes, and the precision that the question
    names, amp for any of 16 bits where it names none."""

    work: TokenWork
    tokens: float
    passes: float
    is_packed: bool
    is_padded: bool
    precision: str = "amp"

    @classmethod
    def of(cls, query: EstimateQuery) -> TokenTraining | None:
        """What the question states; None if it is about no language model by tokens."""
        if query.method is None:
            return None
        given, by_examples = query.tokens or 0.0, query.examples is not None
        is_packed = query.packed if query.packed is not None else query.method == "pretrain" or not by_examples
        usual = LENGTH_OF_EXAMPLES if by_examples and not is_packed else LENGTH
        work = TokenWork(
            network_of(query),
            query.method,
            (query.length or usual) if not (by_examples and is_packed) else LENGTH,
            query.batch,
            AS_COMPUTED.get(query.precision, "bf16"),
            query.stack,
        )
        each = (query.examples or 0) * (query.length or LENGTH_OF_EXAMPLES) if by_examples else given
        is_padded = not is_packed and not by_examples
        passes = query.epochs if by_examples and query.epochs else 1.0
        tokens = each * (PADDED if is_padded else 1.0)
        return cls(work, tokens, passes, is_packed, is_padded, query.precision or "amp")

    @property
    def billed_tokens(self) -> float:
        """What an API bills: all passes, without what padding adds here."""
        return self.tokens * self.passes / (PADDED if self.is_padded else 1.0)

    @property
    def law(self) -> str:
        """The name of its law, which stands in place of a recipe's."""
        stack = "tuned" if self.work.is_tuned and self.work.stack != "plain" else "plain"
        return f"law-{self.work.method}-{stack}"

    def evidence(self, beside: Evidence) -> Evidence:
        """The evidence for questions about it, which have this recipe and this law alone."""
        network, digest = self.work.network, blake2b(repr(self).encode(), digest_size=4).hexdigest()
        exchanged = network.parameters_millions * (0.01 if self.work.is_frozen else 1.0)
        model = Model(network.name, (), network.name, exchanged, None, None, network.source)
        speeds = TokenSpeeds(self.work, _law(beside), beside.accelerators)
        return alone(beside, model, self._recipe(), digest, make_speeds=lambda _: speeds, make_curve=None)

    def _recipe(self) -> LawRecipe:
        work = self.work
        usual = TOKENS_OF_STEP if work.method == "pretrain" else SEQUENCES_OF_STEP * work.length
        return filled(
            LawRecipe,
            BY_WORD,
            name=self.law,
            model=work.network.name,
            family=work.network.name,
            precision=self.precision,
            global_batch_size=work.batch * work.length if work.batch else usual,
            scheduled_epochs=self.passes,
            year=YEAR,
            source="published rates of language models",
            phases=(Phase(1, 0.0, self.passes),),
            evaluations=(MetricEvaluation(self.passes, None, value=self.passes),),
            code="vendor_example" if self.law.endswith("tuned") else "library",
            samples_per_epoch=self.tokens,
        )


def network_of(query: EstimateQuery) -> LanguageNetwork:
    """The network that the question names or describes."""
    if query.parameters is not None:
        return LanguageNetwork.of_size(query.model, query.parameters, query.active, query.layers)
    named = find_language_network(query.model)
    if named is None:
        raise LookupError(query.model)
    return named.with_layers(query.layers)


@lru_cache(4)
def _law(evidence: Evidence) -> TokenLaw:
    return TokenLaw(language_rates(), evidence.accelerators)
