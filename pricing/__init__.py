"""Prices: sources, the append-only store and the catalogue in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.source import SourceSpec


class _Sources(Mapping[str, "SourceSpec"]):
    """Source names to their specifications; a module is imported when its source is looked up, not before."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> SourceSpec:
        spec: SourceSpec = import_module(self._modules[name]).SPEC
        return spec

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


SOURCES: Mapping[str, SourceSpec] = _Sources(
    {
        "aws": "pricing.aws",
        "gcp": "pricing.gcp",
        "azure": "pricing.azure",
        "lambda": "pricing.lambda_cloud",
        "runpod": "pricing.runpod",
        "vast": "pricing.vast",
        "oci": "pricing.oci",
        "digitalocean": "pricing.digitalocean",
        "vultr": "pricing.vultr",
        "hetzner": "pricing.hetzner",
        "cirrascale": "pricing.cirrascale",
        "verda": "pricing.verda",
        "gpuhunt": "pricing.gpuhunt_import",
        "skypilot": "pricing.skypilot_import",
        "sheet": "pricing.sheet",
    }
)
"""Every price source: command line, settings, documentation and tests derive from this table."""
