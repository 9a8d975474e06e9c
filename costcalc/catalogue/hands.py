"""Who stated each rate of a catalogue first, who saw it again, and who vouches for it."""

from __future__ import annotations

import re

import numpy as np
from msgspec.structs import replace

from costcalc.catalogue.columns import Columns, Vocabulary
from costcalc.catalogue.encoding import Codes
from costcalc.offer import COPIED, ENDED, OFF_MARKET, SECOND_HAND, is_first_hand
from costcalc.units import SECONDS_PER_DAY, Flags, Indices

SEEN_AGAIN = "; seen again in "
WITNESSES_APART_SECONDS = 180 * SECONDS_PER_DAY
ROUNDED = 1e-3
"""Amounts that differ by less are one amount that somebody rounded."""


def with_hands_kept(columns: Columns, vocabulary: Vocabulary) -> tuple[Columns, Vocabulary]:
    """The same rates, except that one stated by a provider stays first hand and exact when a third party sees it again. Its
    source then names both."""
    stated_in = _stated_in(columns, vocabulary)
    again = np.flatnonzero(stated_in != np.arange(len(stated_in)))
    sources, flags = Codes(vocabulary.sources), Codes(vocabulary.flags)
    pairs = zip(columns.source[stated_in[again]].tolist(), columns.source[again].tolist(), strict=True)
    words = vocabulary.sources
    source_codes, flag_codes = columns.source.copy(), columns.flags.copy()
    source_codes[again] = [sources[words[first] + SEEN_AGAIN + words[later]] for first, later in pairs]
    as_first = [[flag for flag in text.split(";") if flag not in (SECOND_HAND, COPIED)] for text in vocabulary.flags]
    flag_codes[again] = [flags[";".join(as_first[code])] for code in columns.flags[again].tolist()]
    kept = replace(columns, source=source_codes, flags=flag_codes, hourly=columns.hourly[stated_in])
    return kept, replace(vocabulary, sources=tuple(sources), flags=tuple(flags))


def vouched_for(columns: Columns, vocabulary: Vocabulary, first_hand: Flags) -> Flags:
    """Which rates are stated by the provider, or by two sources independently of each other and of a third.

    The earlier source must have seen the amount at most 180 days before the later one. Nobody vouches for a rate far off the
    market.
    """
    copied, ended, off_market = (flagged(columns, vocabulary, flag) for flag in (COPIED, ENDED, OFF_MARKET))
    numbers, vouched = Codes(), first_hand.copy()  # sources of one project or author begin with the same word
    begins = [numbers[re.split(r"[@:,; ]", source, maxsplit=1)[0]] for source in vocabulary.sources]
    witnesses = np.array(begins, np.int64)[columns.source]
    vouched[_stated_twice(columns, witnesses, np.flatnonzero(~(copied | ended)))] = True
    return vouched & ~off_market


def unchanged_until(columns: Columns, ended: Flags) -> Indices:
    """Until when each rate is known to hold, in seconds since 1970: its next sighting if that is equal, else its own."""
    rows = np.arange(len(columns.observed))
    again = np.flatnonzero(~_changes(columns, rows, ROUNDED)[1:] & ~ended[1:] & ~ended[:-1])
    until = columns.observed.copy()
    until[again] = columns.observed[again + 1]
    return until


def flagged(columns: Columns, vocabulary: Vocabulary, flag: str) -> Flags:
    """The rows that have this flag."""
    return np.array([flag in text.split(";") for text in vocabulary.flags], bool)[columns.flags]


def _stated_in(columns: Columns, vocabulary: Vocabulary) -> Indices:
    """For each second-hand row, the row in which the provider stated that rate without a change since; else the row itself."""
    first_hand = np.array([is_first_hand(text.split(";")) for text in vocabulary.flags], bool)[columns.flags]
    rows, ended = np.arange(len(columns.observed)), flagged(columns, vocabulary, ENDED)
    begins = _changes(columns, rows, ROUNDED) | ended
    begins[1:] |= ended[:-1]
    since = np.maximum.accumulate(np.where(begins, rows, 0))
    stated = np.maximum.accumulate(np.where(first_hand, rows, -1))
    return np.where(flagged(columns, vocabulary, SECOND_HAND) & (stated >= since), stated, rows)


def _stated_twice(columns: Columns, witnesses: Indices, rows: Indices) -> Indices:
    """The rows whose amount another witness stated not long before."""
    order = np.lexsort((columns.observed[rows], columns.hourly[rows], columns.currency[rows], columns.key[rows]))
    rows = rows[order]
    new_amount = _changes(columns, rows)
    positions, other_witness = np.arange(len(rows)), new_amount.copy()
    other_witness[1:] |= witnesses[rows[1:]] != witnesses[rows[:-1]]
    first = np.maximum.accumulate(np.where(other_witness, positions, 0))  # of what this witness states without a break
    rows, before = rows[~new_amount[first]], rows[first[~new_amount[first]] - 1]
    return np.asarray(rows[columns.observed[rows] - columns.observed[before] <= WITNESSES_APART_SECONDS])


def _changes(columns: Columns, rows: Indices, rounded: float = 0) -> Flags:
    """Which rows are of another offer than the row before, or differ from it in amount by more than this share."""
    changes = np.ones(len(rows), bool)
    earlier, later = columns.hourly[rows[:-1]], columns.hourly[rows[1:]]
    changes[1:] = np.abs(later - earlier) > rounded * earlier
    for values in (columns.key, columns.currency):
        changes[1:] |= values[rows[1:]] != values[rows[:-1]]
    return changes
