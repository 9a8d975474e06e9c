"""The formulas of an estimate's row, by column. `[hours]` stands for the cell of the row in the column `hours`.

They compute what `costcalc.costing.bills`, `costcalc.rate_moves` and `costcalc.duration.overheads` do: a bill is a fee for every
started period and a rate for every metered hour.
"""

from __future__ import annotations

from costcalc.costing.bills import SOLD_TOGETHER
from costcalc.duration.overheads import SPOT_RESTART_HOURS

SCALED = ("train_hours", "overhead_hours", "hours_low", "hours_high", "retry_hours")
"""Figures that follow from the hours by a factor of the row."""
WHERE_KNOWN = ("usual_hours_low", "usual_hours_high", "energy_kwh", "carbon_kg")
"""Those that an estimate may lack."""
METERED = "[metered_hourly]"


def _periods(hours: str) -> str:
    """The periods paid for."""
    started = f"ROUNDUP(ROUND({hours}/[period_hours],6),0)"
    sold = f"IF(AND([sold_singly]>0,{started}>[sold_singly]),CEILING({started},{SOLD_TOGETHER}),{started})"
    return f"MAX({sold},[minimum_periods])"


def _beside(hours: str) -> str:
    """Storage and egress."""
    return f"[beside_once]+[beside_hourly]*{hours}"


def billed(hours: str, metered: str, increment: str = "[increment_seconds]", minimum: str = "[minimum_seconds]") -> str:
    """The billed cost of so many hours at a metered rate."""
    paid = f"MAX(CEILING(ROUND({hours}*3600,6),{increment}),{minimum})/3600"
    return f"ROUND([fee_per_period]*{_periods(hours)}+{metered}*{paid}+{_beside(hours)},2)"


def _run_share(hours: str, metered: str) -> str:
    """What of the machines' fees and metered hours falls to the run, if other work uses the rest of the periods."""
    periods = _periods(hours)
    fees = f"[fee_per_period]*{periods}*{hours}/({hours}+[utilization]*({periods}*[period_hours]-{hours}))"
    return f"IF(OR([fee_per_period]=0,{hours}=0),0,{fees})+{metered}*{hours}"


def effective(hours: str, metered: str) -> str:
    """The effective cost of so many hours at a metered rate."""
    return f"ROUND({_run_share(hours, metered)}+{_beside(hours)},2)"


def _calendar_hours() -> str:
    """Seven sessions a week are one a day; another quota is waited for."""
    lost = f"{SPOT_RESTART_HOURS}*ROUNDUP([hours]/([session_hours]-{SPOT_RESTART_HOURS}),0)"
    restarted = f"([hours]+IF(AND([session_hours]>0,[hours]>[session_hours]),{lost},0))"
    waited = f"IF([hours_per_week]>0,(ROUNDUP({restarted}/[hours_per_week],0)-1)*(168-[hours_per_week]),0)"
    is_daily = f"AND({restarted}>[hours],[hours_per_week]=7*[session_hours])"
    return f"IF({is_daily},{restarted}*24/[session_hours],{restarted}+{waited})"


def _break_even_hours() -> str:
    fees, periods = "[fee_per_period]*MAX([minimum_periods],1)", "MAX([minimum_periods],1)*[period_hours]"
    hours = f"{fees}/([on_demand_hourly]-[metered_hourly])"
    never = "OR([fee_per_period]=0,[on_demand_hourly]<=[metered_hourly])"
    return f'IF({never},"",IF({hours}<={periods},{hours},""))'


def _rate_factor(end: str, sign: str, moved: str) -> str:
    """How far a rate that moves widens this end of a range beyond its hours."""
    own = f"ABS(LN([hours{end}]/[hours]))"
    return f"IF([hours]=0,1,EXP({sign}(SQRT({own}^2+[{moved}]^2)-{own})))"


RATE_FACTORS = (_rate_factor("_low", "-", "rate_fall"), _rate_factor("_high", "", "rate_rise"))
COSTS = {"billed": billed, "effective": effective}
OF_EVERY_ROW = {
    **{name: f"[hours]*[{name}_factor]" for name in SCALED},
    **{name: f'IF([{name}_factor]="","",[hours]*[{name}_factor])' for name in WHERE_KNOWN},
    "images_per_second": 'IF([images]="","",[images]/([train_hours]*3600))',
    "calendar_hours": _calendar_hours(),
    "hourly_rate": "IF(OR([utilization]=1,[hours]=0),[fee_per_period]/[period_hours]+[metered_hourly],"
    f"({_run_share('[hours]', METERED)})/[hours])",
    "break_even_hours": _break_even_hours(),
    **{f"{basis}_cost": cost("[hours]", METERED) for basis, cost in COSTS.items()},
    **{
        f"{basis}_cost_{end}": cost(f"[hours_{end}]", f"{METERED}*[rate_{end}_factor]")
        for basis, cost in COSTS.items()
        for end in ("low", "high")
    },
}
LEAST_BY_THE_SECOND = billed("[hours_low]", f"{METERED}*[rate_low_factor]", "1", "0")
"""The low end of a billed cost where nobody knows how the provider rounds time up."""


def by_basis(basis: str) -> dict[str, str]:
    """All formulas of a row. The usual cost is empty where nobody knows the hours of other people's code."""
    ends = {f"usual_cost_{end}": f"[usual_hours_{end}]" for end in ("low", "high")}
    usual = {name: f'IF({hours}="","",{COSTS[basis](hours, METERED)})' for name, hours in ends.items()}
    return OF_EVERY_ROW | usual
