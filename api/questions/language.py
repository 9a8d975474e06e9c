"""A question about a language model by tokens: what it need not say, and what it must."""

from __future__ import annotations

from marshmallow import Schema

from api.questions.errors import Errors
from api.questions.parsing import Arguments
from api.questions.subject import ANY_NETWORK, GOAL, Subject, Values, given, unlisted
from api.questions.suggestions import Guesses, clip, squeeze
from costcalc.evidence.language import find_language_network, language_networks
from costcalc.query import ANY, EPOCHS, OWN_DATA_SET

ASKS = ("method", "tokens", "examples")
NOT_OF_TOKENS = (
    *GOAL, "recipe", "training", "software", "pipeline", "compilation", "images_per_second", "crossing", "confidence", "gmacs",
    "samples_per_epoch", "kind", "took_on",
)  # fmt: skip
OF_ANY = ("parameters", "layers", "active")
PRETRAINING_PER_PARAMETER, PRETRAINING_TOKENS = 20, 10e9
"""From so many tokens, of a parameter or in all, a training is pretraining where nobody names its method: Hoffmann et al. (2022)
train on 20 a parameter; the largest fine-tunings have some 1 billion."""
MANY_TOKENS = "so many tokens"
ELSEWHERE = {
    "whisper": "speech",
    "wav2vec": "speech",
    "hubert": "speech",
    "sora": "video",
    "wan": "video",
    "hunyuanvideo": "video",
}
REINFORCEMENT = "grpo, ppo, dpo and other methods with rewards spend their time in generation, which no law here covers"


class LanguageSubject(Subject, frozen=True):
    """A language model that is trained on so many tokens."""

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question names a method, tokens or examples."""
        return {"method", "target"} <= schema.fields.keys() and any(given(name, arguments) for name in ASKS)

    def settled(self, _: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with what follows from the tokens; what is missing is asked for, what contradicts is refused."""
        wrong: Errors = {
            name: ["says nothing of a language model by tokens: leave it out"]
            for name in NOT_OF_TOKENS
            if given(name, arguments)
        }
        values = values | _usual_method(values, errors)
        wrong |= _quantity(values, errors) | _method(values, arguments, errors)
        if any(text[:1].isdigit() for text in arguments.get("token", ())):
            wrong["token"] = ["is the token that signs you in: write tokens=50M"]
        passes = values.get("epochs", 1.0) if "examples" in values else 1.0
        goal = {"target": passes, "metric": EPOCHS, "dataset": OWN_DATA_SET}
        named, faults = _network(values)
        return values | goal | named, errors | wrong | faults


def _quantity(values: Values, errors: Errors) -> Errors:
    if {"tokens", "examples"} & errors.keys():
        return {}
    if "tokens" in values and "examples" in values:
        return {"examples": ["tokens= is the whole training: leave one of them out"]}
    if "tokens" not in values and "examples" not in values:
        return {"tokens": ["missing: how many tokens? Add tokens=50M, or examples=10000 with length= and epochs="]}
    if "tokens" in values and "epochs" in values:
        return {"epochs": ["tokens= is the whole training, all passes: leave it out, or write examples= with length="]}
    return {}


def _usual_method(values: Values, errors: Errors) -> Values:
    """Pretraining, where no method is named and the tokens are more than anybody fine-tunes on."""
    named = find_language_network(values["model"]) if isinstance(values.get("model"), str) else None
    size = named.parameters_millions if named else values.get("parameters")
    if size is None or "method" in {*values, *errors}:
        return {}
    least = min(PRETRAINING_PER_PARAMETER * size * 1e6, PRETRAINING_TOKENS)
    return {"method": "pretrain", "method_of": MANY_TOKENS} if values.get("tokens", 0) >= least else {}


def _method(values: Values, arguments: Arguments, errors: Errors) -> Errors:
    if "method" in errors and squeeze(arguments["method"][0]) in ("grpo", "ppo", "dpo", "rlhf", "rl", "kto", "orpo"):
        return {"method": [f"{REINFORCEMENT}; write pretrain, full, lora or qlora"]}
    missing = "method" not in values and "method" not in errors
    return {"method": ["missing: add method=lora, qlora, full or pretrain"]} if missing else {}


def _network(values: Values) -> tuple[Values, Errors]:
    """The model under its own name, or what is wrong with how it is named or described."""
    name, described = values.get("model"), [each for each in OF_ANY if each in values]
    if not isinstance(name, str):
        return {}, {}
    if squeeze(name) == ANY:
        wrong: Errors = {}
        if "parameters" not in values:
            wrong["parameters"] = ["missing: how large is your model? Add parameters=8B"]
        elif values.get("active", 0) > values["parameters"]:
            wrong["active"] = ["is more than parameters=: a token uses a part of them"]
        return {"model": ANY_NETWORK}, wrong
    found = find_language_network(name)
    if found is None:
        return {"model": ANY_NETWORK}, {"model": [_unknown(name)]}
    own = f"{found.name} has its own: leave it out, or write model=any"
    return {"model": unlisted(found.name)}, {each: [own] for each in described}


def _unknown(name: str) -> str:
    of = next((kind for word, kind in ELSEWHERE.items() if squeeze(name).startswith(word)), None)
    if of:
        return f"{clip(name)} is a model of {of}, of which no tokens are counted here: too little was published"
    return Guesses().unknown("language model", name, [*language_networks()], "write model=any with parameters=8B")
