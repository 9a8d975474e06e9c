"""The regions from which a question about places is answered: those with rates or, as the answer then says, the nearest one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from api.questions.spellings import Meant
from api.questions.suggestions import either
from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offer import ANY_REGION
from costcalc.query import EstimateQuery
from pricing.packaged.places import Region, nearest, places
from pricing.packaged.providers import provider


class Located(NamedTuple):
    """A question about regions that have rates, and what the user must know of those that have none."""

    query: EstimateQuery
    notes: tuple[str, ...] = ()


def located(query: EstimateQuery, catalogue: Catalogue, as_of: datetime, sources: Collection[str]) -> Located:
    """The question, with the nearest region that has rates in place of regions that have none. `sources` can be refreshed."""
    wanted = places().of(query.region, query.provider) or places().of(query.region)
    if not wanted:
        return Located(query)
    providers = query.provider or tuple(dict.fromkeys(region.provider for region in wanted))
    priced = _priced(catalogue, as_of, query.max_price_age, providers)
    everywhere = {region.provider for region in wanted} & {name for name, code in priced if code == ANY_REGION}
    having = [region for region in places().regions if (region.provider, region.code) in priced]
    there = everywhere | {region.provider for region in having if region.code in query.region}
    lacking = tuple(
        name for name in providers if name not in there and any(region.provider == name for region in wanted)
    )
    words = query.region.words if isinstance(query.region, Meant) else query.region
    place = either(_shown(word, wanted) for word in words)
    refresh = [name for name in lacking if name in sources]
    reads = f"; `costcalc prices refresh {' '.join(refresh)}` reads them" if refresh else ""
    if everywhere:
        alike = (f"{name}:{ANY_REGION}" for name in sorted(everywhere))
        query = replace(query, region=Meant([*query.region, *alike], words))
    missing = (
        f"No rate of {either(provider(code).name for code in (lacking or providers))} in {place} is stored{reads}."
    )
    if there or _has_others(catalogue, query, as_of):
        return Located(query, (missing,) if lacking and query.provider else ())
    near = nearest(wanted, [region for region in having if region.kind == "region"])  # zones of one hold few machines
    if near is None:
        return Located(query, (missing,))
    note = f"{missing} The nearest with rates is {near}."
    return Located(replace(query, region=Meant([near.code], words)), (note,))


def _priced(catalogue: Catalogue, as_of: datetime, days: int, providers: tuple[str, ...]) -> set[tuple[str, str]]:
    """The providers and regions of current rates."""
    current = catalogue.current_offers(as_of, days)
    rows = catalogue.passing_rows(current.listed, OfferFilter(provider=providers, regions="all"))
    words = catalogue.vocabulary
    codes = zip(catalogue.columns.instance[rows].tolist(), catalogue.columns.region[rows].tolist(), strict=True)
    return {(words.instances[instance][0], words.regions[region]) for instance, region in set(codes)}


def _has_others(catalogue: Catalogue, query: EstimateQuery, as_of: datetime) -> bool:
    """Whether providers whose regions the table lacks have rates there, under the same names."""
    wanted = OfferFilter(provider=query.provider, region=tuple(query.region), regions="all")
    return bool(len(catalogue.passing_rows(catalogue.current_offers(as_of, query.max_price_age).listed, wanted)))


def _shown(word: str, regions: Collection[Region]) -> str:
    """A region's code with its city; a place's name as it is written."""
    named = next((str(region) for region in regions if region.code == word), None)
    return named or (word.upper() if len(word) <= 3 else word.title())
