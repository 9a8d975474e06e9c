"""Additive models of ln(rate): a sum of effects, each a fitted number times a value that the setup gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Key = tuple[str, ...]
Term = tuple[Key, float, float]
"""The effect's key, the value it is multiplied by, and its prior standard deviation, which only fitting reads."""


def total(effects: Mapping[Key, float], terms: Iterable[Term]) -> float:
    """The sum of the fitted effects times their values; an effect that was never fitted counts as 0."""
    return sum([effects[key] * value for key, value, _ in terms if key in effects])
