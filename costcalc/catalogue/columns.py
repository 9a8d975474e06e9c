"""The arrays a catalogue is made of, what their codes stand for, and their form as bytes."""

from __future__ import annotations

import io
import json

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, astuple
from numpy.typing import NDArray

from costcalc.hardware import Machine
from costcalc.text import in_lines

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Int16 = NDArray[np.int16]
Int8 = NDArray[np.int8]
Float32 = NDArray[np.float32]


class Columns(Struct, frozen=True):
    """One entry per observation, ordered by key and by when it counts (`counts_from`). Money in nano-units of its
    currency, -1 for unknown.

    `instance`, `region`, ... are codes into the vocabulary. `key` numbers an offer, `group` its key without the region. `fee`,
    `period_hours`, `minimum_periods`, `sold_singly`, `metered` are its tariff. Moments are seconds since 1970, -1 for unknown.
    """

    key: Int32
    group: Int32
    instance: Int32
    region: Int32
    option: Int8
    term: Int16
    payment: Int8
    offering: Int8
    currency: Int8
    source: Int32
    flags: Int32
    parts: Int32
    hourly: Int64
    upfront: Int64
    recurring: Int64
    monthly: Int64
    hours_in_month: Int16
    fee: Int64
    period_hours: Int32
    minimum_periods: Int32
    sold_singly: Int8
    metered: Int64
    increment_seconds: Int32
    minimum_seconds: Int32
    observed: Int64
    effective_from: Int64
    session_hours: Float32
    hours_per_week: Float32


class Vocabulary(Struct, frozen=True):
    """What the codes in the columns stand for; `instances` are (provider, instance type, machine)."""

    instances: tuple[tuple[str, str, Machine], ...]
    regions: tuple[str, ...]
    terms: tuple[str, ...]
    payments: tuple[str, ...]
    classes: tuple[str, ...]
    currencies: tuple[str, ...]
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    parts: tuple[str, ...]


NAMES = Columns.__struct_fields__


def counts_from(observed: Int64, effective_from: Int64) -> Int64:
    """When rates begin to count, in seconds since 1970: when observed, or on the later day for which they were stated."""
    return np.maximum(observed, effective_from) if (effective_from > observed).any() else observed


def to_bytes(columns: Columns, vocabulary: Vocabulary) -> bytes:
    """Columns and vocabulary as one self-contained document."""
    buffer = io.BytesIO()
    np.savez(buffer, vocabulary=as_array(vocabulary), **{name: getattr(columns, name) for name in NAMES})
    return buffer.getvalue()


def from_bytes(document: bytes) -> tuple[Columns, Vocabulary]:
    """What `to_bytes` wrote. Raises ValueError or KeyError on anything else."""
    with np.load(io.BytesIO(document), allow_pickle=False) as arrays:
        columns = Columns(**{name: arrays[name] for name in NAMES})
        return columns, from_array(arrays["vocabulary"])


def as_array(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    """The vocabulary as a text in an array, to stand beside columns."""
    words = asdict(vocabulary)
    words["instances"] = [(*name, *astuple(machine)) for *name, machine in vocabulary.instances]
    return np.frombuffer(json.dumps(words).encode(), np.uint8)


def from_array(text: NDArray[np.uint8]) -> Vocabulary:
    """The vocabulary that `as_array` wrote, its words as lines, whoever stored them. Raises ValueError or KeyError on anything
    else."""
    document = text.tobytes()
    words = json.loads(document)
    if (
        b"\\" in document or b"\x7f" in document
    ):  # else all is printable: JSON writes what is not with a backslash, but for DEL
        words = in_lines(words)
    instances = tuple((name, kind, Machine(*cells)) for name, kind, *cells in words.pop("instances"))
    return Vocabulary(instances, **{name: tuple(values) for name, values in words.items()})
