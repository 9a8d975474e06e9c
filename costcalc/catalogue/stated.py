"""What a catalogue's rates state about how often spot machines are interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import Catalogue
from costcalc.interruptions import RISK_OF_SHARE, ObservedInterruptions, Share
from costcalc.offer import INTERRUPTED
from costcalc.units import Indices


class Statements(Struct, frozen=True, eq=False):
    """The rows of a catalogue that say it, the oldest first, with their moments in seconds since 1970, and by code of flags the
    share that these state. The catalogue itself is not kept, so that a newer one can take its place in memory."""

    rows: Indices
    moments: Indices
    shares: Sequence[Share | None]

    @classmethod
    def of(cls, catalogue: Catalogue) -> Statements:
        shares, columns = [_share(flags) for flags in catalogue.vocabulary.flags], catalogue.columns
        rows = np.flatnonzero(np.array([share is not None for share in shares], bool)[columns.flags])
        rows = rows[np.argsort(columns.observed[rows], kind="stable")]
        return cls(rows, columns.observed[rows], shares)

    def until(self, day: date) -> int:
        """How many statements were made by this day (UTC)."""
        next_day = datetime.combine(day + timedelta(days=1), time(), UTC).timestamp()
        return int(np.searchsorted(self.moments, next_day))

    def newest(self, catalogue: Catalogue, count: int) -> list[ObservedInterruptions]:
        """The newest of the first `count` statements for each machine in each region, ordered by date."""
        columns, newest_first = catalogue.columns, self.rows[:count][::-1]
        regions = len(catalogue.vocabulary.regions)
        places = columns.instance[newest_first].astype(np.int64) * regions + columns.region[newest_first]
        _, first = np.unique(places, return_index=True)
        words, statements = catalogue.vocabulary, []
        for row in newest_first[np.sort(first)][::-1].tolist():
            provider, instance_type, _ = words.instances[columns.instance[row]]
            share, day = self.shares[columns.flags[row]], datetime.fromtimestamp(int(columns.observed[row]), UTC).date()
            assert share is not None
            place, source = words.regions[columns.region[row]], words.sources[columns.source[row]]
            statements.append(ObservedInterruptions(provider, instance_type, share, place, day, source))
        return statements


def _share(flags: str) -> Share | None:
    """The share that these flags state, if it is a known one."""
    stated = next((flag.removeprefix(INTERRUPTED) for flag in flags.split(";") if flag.startswith(INTERRUPTED)), None)
    return next((share for share in RISK_OF_SHARE if share == stated), None)
