"""Putting runs on machines: which offers do which runs, for how many hours."""

from __future__ import annotations

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing import candidates as costs
from costcalc.costing.placements import Placements
from costcalc.duration.training_matrix import Plan
from costcalc.duration.training_times import Runs, campaign, interrupted
from costcalc.query import EstimateQuery


def hire(
    catalogue: Catalogue, plan: Plan, placed: Placements, done: Runs, query: EstimateQuery
) -> tuple[Runs, costs.Hired]:
    """Every placement with every run on its site. Spot machines do the same runs with interruptions, appended to the runs."""
    order = np.argsort(done.site, kind="stable")
    starts = np.searchsorted(done.site[order], np.arange(len(plan.sites) + 1))
    counts = np.diff(starts)[placed.site]
    entry = np.flatnonzero(counts) if counts.max(initial=0) <= 1 else np.repeat(np.arange(len(counts)), counts)
    row, site = placed.row[entry], placed.site[entry]
    within = np.arange(len(entry)) - (np.cumsum(counts) - counts)[entry]
    run = order[starts[site] + within]
    if query.overheads == "typical":
        spot = catalogue.columns.option[row] == costs.SPOT
        run = run + spot * len(done.site)
        done = done + interrupted(done, plan.nodes[done.site])
    if query.runs > 1:
        done = campaign(done, query.runs)
    return done, costs.Hired(row, run, plan.nodes[site], done.hours[run])
