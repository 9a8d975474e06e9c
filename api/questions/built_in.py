"""Names that mean something to everybody, which nobody's own run can take."""

from __future__ import annotations

from functools import cache, lru_cache

from api.questions.names import Known
from api.questions.suggestions import squeeze
from costcalc.evidence import Evidence, normalised
from costcalc.query import ANY
from costcalc.tasks.known import find_task, of_benchmark
from costcalc.tasks.tables import results
from pricing.packaged.places import places

KINDS = {
    "recipe": "a published recipe",
    "provider": "a provider",
    "accelerator": "an accelerator",
    "region": "a region",
    "instance_type": "a machine type",
}


def built_in(name: str, evidence: Evidence, names: Known) -> str | None:
    """What has this name already, in words; None where it is free. `names` are those without anybody's own runs."""
    if squeeze(name) == ANY:
        return "the word for any network"
    if evidence.find_model(name) or find_task(name) or normalised(name) in _families(evidence):
        return "a known network"
    if of_benchmark(name):
        return "a benchmark"
    if normalised(name) in _results():
        return KINDS["recipe"]
    if places().word(name):
        return "a place"
    return next((words for kind, words in KINDS.items() if names.find(kind, name) or names.word(kind, name)), None)


@cache
def _results() -> frozenset[str]:
    return frozenset(normalised(result.name) for of_task in results().values() for result in of_task)


@lru_cache(maxsize=1)
def _families(evidence: Evidence) -> frozenset[str]:
    return frozenset(normalised(model.family) for model in evidence.models.values())
