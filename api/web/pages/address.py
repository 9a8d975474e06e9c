"""Addresses of the page beside the present one: the same question with something changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import request

Given = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Address:
    """A path of this service and the parameters that it was asked with; those that start with `_` are the page's own."""

    path: str
    given: Given

    @property
    def here(self) -> str:
        """The path as browsers ask for it, below that of the service."""
        return f"{request.script_root}{self.path}"

    def __call__(self, path: str | None = None, /, **changes: object) -> str:
        """The address with these parameters changed, or without those that are None or empty; another question starts at its
        first row."""
        kept = {name: values for name, values in self.given.items() if name not in changes and name != "offset"}
        several = {name: value if isinstance(value, (list, tuple)) else [value] for name, value in changes.items()}
        changed = {
            name: [str(value) for value in values if value not in (None, "")] for name, values in several.items()
        }
        pairs = urlencode({**kept, **changed}, doseq=True, safe=",:*")
        return f"{request.script_root}{path or self.path}{'?' * bool(pairs)}{pairs}"

    def hidden(self, *shown: str) -> list[tuple[str, str]]:
        """The parameters that a form passes on beside those that it shows."""
        left_out = {*shown, "offset"}
        return [
            (name, value) for name, values in self.given.items() if name not in left_out for value in values if value
        ]
