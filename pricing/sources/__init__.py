"""Price sources: each brings offers from one provider, catalogue or sheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.sources.source import SourceSpec


class Sources(Mapping[str, "SourceSpec"]):
    """Source names to their specifications; a module is imported when its source is looked up, not before."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def __getitem__(self, name: str) -> SourceSpec:
        spec: SourceSpec = import_module(self.modules[name]).SPEC
        return spec

    def notes(self, name: str) -> str:
        """How a source's rates come about: what its module says at its top."""
        return (import_module(self.modules[name]).__doc__ or "").strip()

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


SOURCES = Sources(
    {
        "aws": "pricing.sources.aws.source",
        "gcp": "pricing.sources.gcp.source",
        "azure": "pricing.sources.azure.source",
        "lambda": "pricing.sources.lambda_cloud",
        "runpod": "pricing.sources.runpod",
        "vast": "pricing.sources.vast",
        "oci": "pricing.sources.oci",
        "digitalocean": "pricing.sources.digitalocean",
        "vultr": "pricing.sources.vultr",
        "hetzner": "pricing.sources.hetzner",
        "cirrascale": "pricing.sources.cirrascale",
        "verda": "pricing.sources.verda",
        "scaleway": "pricing.sources.scaleway",
        "ovhcloud": "pricing.sources.ovhcloud",
        "gpuhunt": "pricing.sources.catalogues.gpuhunt",
        "skypilot": "pricing.sources.catalogues.skypilot",
        "sheet": "pricing.sources.own_sheet.source",
    }
)
"""Every price source: command line, settings, documentation and tests derive from this table."""
