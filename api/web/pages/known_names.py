"""The names that the fields of all pages suggest while somebody types in them."""

from __future__ import annotations

from collections.abc import Sequence

from api.questions.errors import Refused
from api.web.asked import current_service

OF_FILTERS = ("provider", "region", "instance_type", "accelerator", "recipe")
MACHINE = "machine"


def known_names(kind: str) -> Sequence[str]:
    """The names for a parameter, or `provider:type` for a machine; none for other words, and none before prices are loaded.

    Of networks those with a training: of others only the time and the cost of so many epochs are known.
    """
    service = current_service()
    if kind == "model":
        trained = (name for name in service.evidence.models if service.evidence.recipes_of(name))
        return sorted({*trained, *(own.run.name for own in service.own.values())})
    if kind not in (*OF_FILTERS, MACHINE):
        return ()
    try:
        catalogue = service.catalogue()
    except Refused:
        return ()
    if kind == MACHINE:
        return sorted({f"{provider}:{name}" for provider, name, _ in catalogue.vocabulary.instances})
    names: Sequence[str] = getattr(service.names(catalogue), kind)
    return names
