"""What a training draws and emits follows from watts, hours, data centers and grids, and is unknown where one of them is."""

from datetime import UTC, datetime

import pytest

from costcalc.hardware import MACHINE_SHARE, DataCenters, GridCarbon, energy_tables

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def only(answer):
    (one,) = answer.estimates
    return one


def energy_of(estimate):
    return [said for said in estimate.assumptions if said.startswith("Energy: ")]


def test_kilowatt_hours_are_watts_times_hours_times_what_the_building_takes(ask):
    one = only(ask(0.757, provider=("aws",), instance_type=("p4d.24xlarge",), region=("us-east-1",), purchase=("on_demand",),
                   nodes=2, recipe=("mlperf-*",), as_of=NOW, limit=1))  # fmt: skip
    assert one.accelerators == 16
    assert one.energy_kwh == pytest.approx(16 * 0.400 * 1.38 * 1.14 * one.hours)
    assert one.carbon_kg == pytest.approx(one.energy_kwh * 0.365128)
    (said,) = energy_of(one)
    assert said.startswith(
        "Energy: 400 W from A100-40GB's data sheet, times 1.38 for the rest of the machine (measured on H100), times PUE 1.14 "
        "of aws (2025). Carbon: 0.365 kg CO2e a kWh, the grid's average in a year that is not stated (EPA eGRID of NERC region"
    )


@pytest.mark.parametrize(("year", "grid", "of"), [(2022, 0.46, 2022), (2023, 0.43, 2023), (2026, 0.41272, 2024)])
def test_the_grid_is_that_of_the_year_nearest_to_the_question(ask, year, grid, of):
    one = only(ask(0.757, provider=("gcp",), region=("us-central1",), accelerator=("V100", "A100-40GB"), limit=1,
                   as_of=datetime(year, 12, 1, tzinfo=UTC), max_price_age=2000, purchase=("on_demand",)))  # fmt: skip
    assert one.carbon_kg / one.energy_kwh == pytest.approx(grid)
    assert f"the grid's average in {of} " in energy_of(one)[0]


def test_where_the_grid_is_not_known_the_energy_still_is(ask):
    one = only(ask(0.757, provider=("lambda",), accelerator=("H100",), as_of=NOW, limit=1))
    assert one.energy_kwh > 0
    assert one.carbon_kg is None
    assert "PUE 1.56, the usual one. Carbon: no figure for the local grid is known." in energy_of(one)[0]


def test_where_nobody_published_watts_nothing_is_known(ask):
    one = only(ask(0.757, accelerator=("TPU v5e",), as_of=NOW, limit=1))
    assert (one.energy_kwh, one.carbon_kg) == (None, None)
    assert energy_of(one) == ["Energy: the power of TPU v5e was not published."]


def test_packaged_grids_and_data_centers_are_plausible_and_stated_once(packaged_evidence):
    tables = packaged_evidence.energy
    assert {provider for provider, _ in tables.grids} == {"aws", "azure", "gcp"} == set(tables.data_centers)
    for grids in tables.grids.values():
        assert len({one.year for one in grids}) == len(grids)
        assert all(one.source and 0 <= one.kg_co2e_per_kwh < 1 for one in grids)
    assert all(1 < one.pue < 1.3 and one.source for one in tables.data_centers.values())


def test_the_measured_node_is_what_the_share_was_read_from():
    assert pytest.approx(0.76 * 10_200, rel=0.005) == 8 * 700 * MACHINE_SHARE


def test_tables_are_looked_up_by_place():
    grid, center = GridCarbon("aws", "here", None, 0.4, "a paper"), DataCenters("aws", 1.1, 2025, "a report")
    tables = energy_tables((), (center,), (grid,))
    assert (tables.grids["aws", "here"], tables.data_centers["aws"], tables.watts) == ((grid,), center, {})
