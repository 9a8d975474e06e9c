"""Price sources: each brings offers from one provider, catalogue or sheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.sources.source import SourceSpec

PAGE = "pricing.sources.common.page"
"""The module of sources that `data/pages.toml` describes."""


class UnknownSource(ValueError):
    """No source has this name; the message names the nearest."""


def specification(name: str, module: str) -> SourceSpec:
    """The specification of the source with this module."""
    contents = import_module(module)
    spec: SourceSpec = contents.page_spec(name) if module == PAGE else contents.SPEC
    return spec


class Sources(Mapping[str, "SourceSpec"]):
    """Source names to their specifications; a module is imported when its source is looked up, not before."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def __getitem__(self, name: str) -> SourceSpec:
        return specification(name, self.modules[name])

    def notes(self, name: str) -> str:
        """How a source's rates come about: its notes in the table of pages, or its module's docstring."""
        module = import_module(self.modules[name])
        return ((module.pages()[name].notes if self.modules[name] == PAGE else module.__doc__) or "").strip()

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


SOURCES = Sources(
    {
        "edition": "pricing.sources.published.edition",
        "aws": "pricing.sources.aws.source",
        "gcp": "pricing.sources.gcp.source",
        "azure": "pricing.sources.azure.source",
        "aws-page": "pricing.sources.aws.page",
        "gcp-page": "pricing.sources.gcp.page",
        "lambda": "pricing.sources.small_clouds.lambda_cloud",
        "runpod": "pricing.sources.small_clouds.runpod",
        "vast": "pricing.sources.small_clouds.vast",
        "oci": "pricing.sources.small_clouds.oci",
        "digitalocean": "pricing.sources.small_clouds.digitalocean",
        "vultr": "pricing.sources.small_clouds.vultr",
        "hetzner": "pricing.sources.small_clouds.hetzner",
        "cirrascale": "pricing.sources.small_clouds.cirrascale",
        "verda": "pricing.sources.small_clouds.verda",
        "scaleway": "pricing.sources.small_clouds.scaleway",
        "ovhcloud": "pricing.sources.small_clouds.ovhcloud",
        "coreweave": PAGE,
        "crusoe": PAGE,
        "hyperbolic": PAGE,
        "jarvislabs": "pricing.sources.small_clouds.jarvislabs",
        "hyperstack": PAGE,
        "lambda-page": PAGE,
        "nebius": PAGE,
        "together": PAGE,
        "voltage-park": PAGE,
        "aws-plans-page": "pricing.sources.aws.plans_page",
        "skypilot": "pricing.sources.catalogues.skypilot",
        "sheet": "pricing.sources.own_sheet.source",
    }
)
"""Every price source: command line, settings, documentation and tests derive from this table. They are asked in its order,
the large clouds first."""

NOT_PUBLIC = frozenset({"aws", "digitalocean", "gcp", "jarvislabs", "lambda", "sheet"})
"""The sources whose rates no edition holds (`SourceSpec.is_public`), here so that they are known without importing any."""

OF_OTHER_NAMES = frozenset({"aws-page", "aws-plans-page", "edition", "gcp-page", "lambda-page", "sheet", "skypilot"})
"""The sources that are named otherwise than the providers whose rates they bring."""
