"""What a question may say of a training that it describes itself: so many epochs of a network with a name, a speed or a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema

from api.questions.errors import Errors
from api.questions.parsing import Arguments
from api.questions.suggestions import squeeze
from costcalc.query import ANY, EPOCHS, OWN_DATA_SET
from costcalc.training import IMAGES_PER_EPOCH, Model

SIZES = ("parameters", "gmacs")
NO_SPEED = "missing: add images_per_second=1100@1xA100-80GB, or parameters= and gmacs="
ANY_NETWORK = Model(ANY, (), ANY, None, None, None, "your question")


def describes(schema: Schema, arguments: Arguments) -> bool:
    """Whether the question says itself how many epochs it takes, or has no name for its network."""
    named = arguments.get("model", [""])
    given = any(text.strip() for text in arguments.get("epochs", ()))
    return "epochs" in schema.fields and "target" in schema.fields and (given or squeeze(named[0]) == ANY)


def by_word(values: Mapping[str, Any], is_any: bool) -> tuple[dict[str, Any], Errors]:
    """What follows from a description beside its values, and what it lacks."""
    errors: Errors = {}
    if "epochs" not in values:
        errors["epochs"] = ["missing: how many epochs does your training take? Add epochs=90"]
    sizes = [name for name in SIZES if name in values]
    if is_any:
        errors |= _unknown_speed(values, sizes)
    else:
        errors |= {name: ["only a network without a name has this: leave it out, or ask model=any"] for name in sizes}
    found: dict[str, Any] = {"recipes": "best"}
    if "target" not in values:
        found |= {"target": values.get("epochs", 1.0), "metric": EPOCHS}
    if values.get("samples_per_epoch", IMAGES_PER_EPOCH) != IMAGES_PER_EPOCH:
        found["dataset"] = OWN_DATA_SET
    return found, errors


def _unknown_speed(values: Mapping[str, Any], sizes: list[str]) -> Errors:
    if "target" in values:
        return {"target": ["what your network reaches nobody here knows: leave it out, epochs= says when it is done"]}
    if "images_per_second" in values or len(sizes) == len(SIZES):
        return {}
    if sizes:
        (other,) = set(SIZES) - set(sizes)
        return {other: [f"missing: {sizes[0]} alone says too little; add {other}= too"]}
    return {"images_per_second": [NO_SPEED]}


def without_epochs(values: Mapping[str, Any]) -> Errors:
    """What is said of a training that the question does not describe."""
    settled = {"epochs": ["follow from its results: leave it out"]} if "epochs" in values else {}
    needs_any = {name: ["is for model=any with epochs="] for name in SIZES if name in values}
    needs_epochs = {"samples_per_epoch": ["is for your own data: add epochs="]} if "samples_per_epoch" in values else {}
    return {**settled, **needs_any, **needs_epochs}
