"""Rentals of made-up offers, each with a training time of its own."""

import numpy as np

from costcalc.costing.bills import Tariffs
from costcalc.costing.rentals import EVERYTHING, Rentals


def rented(hours, row=None, nodes=None, calendar=None, beside=None, prices=None):
    """So many hours each; unless given, all of one machine of the first row, without waiting, and for nothing."""
    hours = np.array(hours, float)
    waited = hours if calendar is None else np.array(calendar, float)
    apart = np.zeros(len(hours), bool) if beside is None else np.array(beside)
    rows = np.zeros(len(hours), np.int64) if row is None else np.array(row)
    machines = np.ones(len(hours), np.int64) if nodes is None else np.array(nodes)
    nothing = np.zeros(len(hours))
    tariffs = Tariffs.of(prices.columns, rows, machines) if prices else Tariffs(*[nothing] * len(Tariffs._fields))
    return Rentals(rows, EVERYTHING, np.arange(len(hours)), hours, waited, apart, tariffs)
