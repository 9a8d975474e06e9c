"""The scripts that people train with on the chips of a vendor, beside whatever else an answer names: as they were published, and
as an ordinary loop of today runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.answers import Missed
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.rentals import AllowedOffers, Pairs, Risks, rentals
from costcalc.duration.overheads import ENDLESS_HOURS
from costcalc.duration.running import NO, YES
from costcalc.duration.training_times import Course, best_of_groups
from costcalc.parts import RankedCandidate
from costcalc.programs import UsualScript
from costcalc.recipes import IN_16_BITS, Recipe
from costcalc.training import THIRTY_TWO_BIT
from costcalc.units import Flags

WORTH_TELLING = 0.05
"""The chance of reaching the target below which nobody expects it of a script."""


class OrdinaryGroups(NamedTuple):
    """Groups of ordinary recipes [R]; of each kind the first group with one that reaches the target has the one to name.

    Those `as_published` are of the script that people begin with, of the usual scripts, of their framework, and all. `today`
    are those in 16 bits of that framework, and of any.
    """

    as_published: tuple[Flags, ...]
    today: tuple[Flags, ...]


def ordinary_groups(recipes: Sequence[Recipe], usual: UsualScript | None) -> OrdinaryGroups:
    """The groups of these recipes, `usual` being what people train with on a vendor's chips."""
    ordinary = np.array([recipe.kind == "ordinary" for recipe in recipes], bool)
    published = ordinary & ~np.array([recipe.name.endswith(IN_16_BITS) for recipe in recipes], bool)
    in_16_bits = ordinary & ~np.array([recipe.precision in THIRTY_TWO_BIT for recipe in recipes], bool)
    if usual is None:
        return OrdinaryGroups((np.zeros_like(ordinary), published), (in_16_bits,))
    alike = np.array([recipe.framework_family == usual.framework_family for recipe in recipes], bool)
    patterns = usual.recipes.split()
    named = (np.array([recipe.is_named(some) for recipe in recipes], bool) for some in (patterns[:1], patterns))
    return OrdinaryGroups(
        (*(published & each for each in (*named, alike)), published), (in_16_bits & alike, in_16_bits)
    )


class OrdinaryScript(Struct, frozen=True, eq=False):
    """The ordinary scripts for one offer; the `course` is that of a question about the best of all recipes that reach the target,
    whatever their care."""

    catalogue: Catalogue
    groups: OrdinaryGroups
    course: Course

    def instead(
        self, lead: RankedCandidate, offers: AllowedOffers, risks: Risks
    ) -> tuple[RankedCandidate | None, RankedCandidate | None]:
        """The lead's machine, which `offers` has alone, with an ordinary loop of today and with a script as published: each of
        the first group that has one that reaches the target and runs there."""
        today, published = self.groups.today, self.groups.as_published
        groups = self.course.eligible.usable & np.array([*today, *published])
        which, times = best_of_groups(self.course, lead.time.cluster, groups)
        pairs, matrix = Pairs.every(offers, times), self.course.matrix
        times, rented = rentals(self.catalogue, matrix, pairs, self.course.query, risks)
        runs = matrix.runs.at(times.recipe, times.cluster)[rented.time]
        start = ((runs != NO) & (rented.hours < ENDLESS_HOURS)).nonzero()[0]
        ways = dict(zip(which[start].tolist(), start.tolist(), strict=True))

        def first(numbers: Iterable[int]) -> RankedCandidate | None:
            at = next((ways[number] for number in numbers if number in ways), None)
            if at is None:
                return None
            hours, runs_here = float(rented.calendar_hours[at]), True if runs[at] == YES else None
            (time,) = times.at(rented.time[[at]])
            scripted = lead._replace(time=time, calendar_hours=hours, runs_here=runs_here)
            return scripted._replace(rank=0, on_frontier=False, pick=None)

        return first(range(len(today))), first(range(len(today), len(groups)))

    @property
    def missed(self) -> Missed | None:
        """The script that people begin with, if it reaches the target in fewer runs than the question wants."""
        begins, course = self.groups.as_published[0].nonzero()[0], self.course
        if not len(begins):
            return None
        best = int(begins[course.eligible.success_probability[begins].argmax()])
        chance = float(course.eligible.success_probability[best])
        name = course.matrix.recipes.recipes[best].name
        return Missed(name, chance) if WORTH_TELLING <= chance < course.query.confidence else None
