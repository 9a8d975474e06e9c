"""The names that the fields of all pages suggest while somebody types in them, and links to those that a message suggests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flask import request, url_for

from api.questions.errors import Refused
from api.questions.suggestions import AskedBack, asked_back
from api.web.pages.address import Address
from api.web.responses import arguments, current_service

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


def asked_again(parameter: str, message: str) -> tuple[str, list[tuple[str, str]]] | None:
    """The words of a message before the names that it suggests, and each name with the address that asks with it instead; None
    where it suggests none, or one that cannot take the place of what was asked."""
    found = asked_back(message)
    if found is None or request.method != "GET":
        return None
    links = [(name, _with(name, parameter, found)) for name in found.names]
    return (found.before, [(name, url) for name, url in links if url]) if all(url for _, url in links) else None


def _with(name: str, parameter: str, found: AskedBack) -> str | None:
    at, given = Address(request.path, arguments()), arguments()
    if found.what == "path":
        return None if "<" in name else at(name)
    if found.what == "parameter":
        return at(**{found.text: None, name: given[found.text]}) if found.text in given else None
    names = known_names(found.what.replace(" ", "_"))
    if names and name not in names:
        return None
    if (request.view_args or {}).get(parameter) == found.text:
        path = url_for(str(request.endpoint), **{**(request.view_args or {}), parameter: name})
        return at(path.removeprefix(request.script_root))
    whole = re.compile(rf"(?<![\w.-]){re.escape(found.text)}(?![\w.-])")
    texts = [whole.sub(lambda _: name, text) for text in given.get(parameter, [])]
    return at(**{parameter: texts}) if texts != given.get(parameter, []) else None
