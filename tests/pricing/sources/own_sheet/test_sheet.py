from datetime import UTC, datetime
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, RECORDINGS, recorded
from support.services import packaged_service

from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offer import ROUNDED, SECOND_HAND, tariff
from pricing.sources.common.http import Http
from pricing.sources.own_sheet.sheet_rows import COLUMNS
from pricing.sources.own_sheet.source import SPEC, offers, sheet
from pricing.sources.source import CredentialsMissing, SourceError

PLACED = "provider,region,instance_type,accelerator,accelerators,purchase_option,hourly_rate,currency"
SHEET = RECORDINGS / "sheet" / "rates.csv"
HEADER = (
    "provider,instance_type,accelerator,accelerators,purchase_option,term,hourly_rate,monthly,upfront,"
    "recurring_hourly,currency"
)


def read(*rows, header=HEADER):
    return offers("\n".join([header, *rows]), NOW)


def fault(*rows, header=HEADER):
    with pytest.raises(SourceError) as refused:
        read(*rows, header=header)
    return str(refused.value)


def collect(place):
    http = Http(retries=0)
    try:
        return SPEC.build({"COSTCALC_SHEET": str(place)}, http).collect(NOW)
    finally:
        http.close()


@pytest.fixture
def found():
    return {
        offer.instance_type + " " + offer.purchase_option: offer
        for offer in offers(recorded("sheet/rates.csv").decode(), NOW)
    }


def test_a_cell_of_several_lines_is_read_as_one():
    [offer] = read(
        'aws,"p3.2x\u200blarge",V100,1,on_demand,,3.06,,,,USD,"contract 4711\nsetup: ls\x1b[31m"',
        header=f"{HEADER},source",
    )
    assert (offer.instance_type, offer.source) == ("p3.2x large", "contract 4711 setup: ls [31m")


def test_a_negotiated_rate_stands_beside_the_list_price(found):
    offer = found["p3.8xlarge on_demand"]
    assert (offer.hourly_rate, offer.region, offer.source) == (Decimal("10.40"), "us-east-1", "EDP contract 4711")
    assert offer.machine == Machine("V100", 4, 16, 32, 244)  # packaged: the sheet leaves it empty
    assert offer.key[-1] == "own"
    assert offer.observed_at == offer.effective_from == datetime(2026, 10, 1, tzinfo=UTC)


def test_an_upfront_is_spread_over_its_term(found):
    offer = found["p3.8xlarge reserved"]
    assert offer.hourly_rate.quantize(Decimal("1e-9")) == Decimal("8.166666667")  # 36,500 / 8,760 + 4
    assert tariff(offer).fee == 36500 + 4 * 8760
    assert offer.offering_class == "standard"


def test_a_rental_quote_is_a_month(found):
    offer = found["4x V100 monthly"]
    assert (offer.term, offer.monthly, offer.flags) == ("1mo", 7500, ("quote",))
    assert offer.hourly_rate.quantize(Decimal("1e-9")) == Decimal("10.273972603")
    assert tariff(offer).fee == 7500


def test_an_own_machine_has_a_price_a_life_and_a_running_cost(found):
    offer = found["DGX in the cellar owned"]
    assert (tariff(offer).fee, tariff(offer).period_hours, tariff(offer).metered_hourly) == (
        99000,
        4 * 8760,
        Decimal("1.25"),
    )
    assert (offer.region, offer.currency, offer.observed_at) == ("any", "EUR", NOW)


def test_a_path_and_a_web_address_give_the_same(httpserver):
    RECORDED["sheet"].serve(httpserver)
    assert collect(SHEET).offers == RECORDED["sheet"].collect(httpserver.url_for("")).offers


def test_an_accelerator_may_bear_the_name_that_providers_use(tmp_path):
    sheet = tmp_path / "rates.csv"
    columns = "provider,region,instance_type,accelerator,accelerators,purchase_option,hourly_rate,currency,observed_at"
    sheet.write_text(f"{columns}\nacme,a,eight,H100-SXM,8,on_demand,16,USD,2026-11-01\n")
    (offer,) = collect(sheet).offers
    assert offer.machine.accelerator == "H100"


def test_no_sheet_and_a_missing_one_name_the_variable(tmp_path):
    with pytest.raises(CredentialsMissing, match="COSTCALC_SHEET"):
        collect("")
    with pytest.raises(SourceError, match="COSTCALC_SHEET"):
        collect(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (",x,V100,1,on_demand,,1,,,,USD", "row 2, column provider: is empty: type whose machine it is"),
        ("us,,V100,1,on_demand,,1,,,,USD", "row 2, column instance_type: is empty"),
        ("us,x,V1000,1,on_demand,,1,,,,USD", "row 2, column accelerator: 'V1000' is unknown: type V100"),
        ("us,x,V100,0,on_demand,,1,,,,USD", "row 2, column accelerators: type how many"),
        ("us,x,V100,one,on_demand,,1,,,,USD", "row 2, column accelerators: 'one' is no whole number: type digits only"),
        ("us,x,V100,1,rent,,1,,,,USD", "row 2, column purchase_option: 'rent' is unknown: type on_demand or spot"),
        ("us,x,V100,1,free,,0,,,,USD", "row 2, column purchase_option: type on_demand or spot"),
        ('us,x,V100,1,on_demand,,"3,06",,,,USD', "row 2, column hourly_rate: '3,06' is no amount"),
        ("us,x,V100,1,on_demand,,-1,,,,USD", "row 2, column hourly_rate: '-1' is no amount"),
        ("us,x,V100,1,on_demand,,NaN,,,,USD", "row 2, column hourly_rate: 'NaN' is no amount"),
        ("us,x,V100,1,on_demand,,0,,,,USD", "row 2, column hourly_rate: a price of 0 is no price"),
        (
            "us,x,V100,1,on_demand,,,,,,USD",
            "row 2, column hourly_rate: no price in this row: type hourly_rate, or monthly",
        ),
        ("us,x,V100,1,reserved,,1,,,,USD", "row 2, column term: is empty for reserved: type how long it binds"),
        ("us,x,V100,1,reserved,1 year,1,,,,USD", "row 2, column term: '1 year' is unknown: type 1mo, 3mo"),
        (
            "us,x,V100,1,owned,3y,1,,,,USD",
            "row 2, column upfront: an owned machine needs its price and its running cost",
        ),
        ("us,x,V100,1,owned,3y,,,9000,,USD", "row 2, column recurring_hourly: an owned machine needs"),
        ("us,x,V100,1,monthly,,5,7300,,,USD", "row 2, column monthly: comes to 10.0000 an hour, hourly_rate to 5.0000"),
        ("us,x,V100,1,on_demand,,1,,,,", "row 2, column currency: is empty: type three letters, such as USD"),
        ("us,x,V100,1,on_demand,,1,,,,Dollar", "row 2, column currency: 'DOLLAR' is no currency: type three letters"),
    ],
)
def test_every_fault_names_row_and_column_and_what_to_type(row, said):
    assert f"sheet: {said}" in fault(row)


def test_mebibytes_for_gibibytes_are_told():
    sheet = (
        "provider,instance_type,accelerator,accelerators,accelerator_memory_gib,purchase_option,hourly_rate,currency"
    )
    with pytest.raises(SourceError, match="accelerator_memory_gib: 81,920 GiB is too much; if it is MiB, type 80"):
        offers(f"{sheet}\nus,x,A100-80GB,1,81920,on_demand,2,USD\n", datetime(2026, 11, 20, tzinfo=UTC))


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("20.11", "is no date: type year-month-day, such as 2026-11-20"),
        ("2026-11-22", "lies ahead: type the day of the quote"),
    ],
)
def test_days_are_days_that_were(day, said):
    assert f"column observed_at: '{day}' {said}" in fault(
        f"us,x,V100,1,on_demand,,1,,,,USD,{day}", header=HEADER + ",observed_at"
    )


def test_a_day_that_has_begun_further_east_is_today():
    [offer] = read("us,x,V100,1,on_demand,,1,,,,USD,2026-11-21", header=HEADER + ",observed_at")
    assert offer.observed_at == NOW


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("provider,instance_type,purchase_option", "row 1 lacks the column currency: add it"),
        (HEADER + ",price", "row 1, no column is called 'price': type"),
        (HEADER + ",hour rate", "row 1, no column is called 'hour rate': type hourly_rate"),
        (HEADER + ",hourly rate", "row 1, column hourly_rate stands there twice"),
        (HEADER + ",currency", "row 1, column currency stands there twice"),
    ],
)
def test_a_header_that_is_not_understood_is_named(header, said):
    assert f"sheet: {said}" in fault("us,x,V100,1,on_demand,,1,,,,USD", header=header)


def test_all_faults_are_named_at_once_and_blank_rows_count():
    said = fault(
        "us,x,V100,1,on_demand,,1,,,,USD",
        ",,,,,,,,,,",
        "us,y,V100,1,on_demand,,one,,,,USD",
        "us,z,V100,1,on_demand,,1,,,,?",
    )
    assert said == (
        "sheet: row 4, column hourly_rate: 'one' is no amount: type digits with a point, such as 1234.50; "
        "row 5, column currency: '?' is no currency: type three letters, such as USD or EUR"
    )


def test_every_faulty_cell_of_a_row_is_named():
    said = fault("us,x,V1000,eight,rent,,viel,,,,Mark,morgen", header=HEADER + ",observed_at")
    columns = ("accelerator", "accelerators", "purchase_option", "hourly_rate", "currency", "observed_at")
    assert [f"row 2, column {column}: " in said for column in columns] == [True] * 6


def test_many_faults_are_counted():
    assert fault(*["us,x,V100,1,on_demand,,one,,,,USD"] * 13).endswith("; and 3 more")


def test_the_same_offer_twice_is_a_fault():
    row = "us,x,V100,1,on_demand,,1,,,,USD"
    assert "row 3, column instance_type: row 2 says the same: delete one" in fault(row, row)


def test_cells_too_many_are_a_fault():
    assert "row 2 has 12 cells, the header 11" in fault("us,x,V100,1,on_demand,,1,000,,,,USD")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_a_mark_before_the_text_are_understood(separator, tmp_path):
    text = "\n".join([HEADER, "us,x,v100,1,On_Demand,,3.06,,,,usd"]).replace(",", separator)
    place = tmp_path / "rates.csv"
    place.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    [offer] = collect(place).offers
    assert (offer.hourly_rate, offer.currency, offer.machine.accelerator) == (Decimal("3.06"), "USD", "V100")


def test_what_excel_saves_in_western_europe_is_read_and_told(tmp_path):
    place = tmp_path / "rates.csv"
    place.write_bytes(f"{HEADER.replace(',', ';')}\nus;Küche;V100;1;on_demand;;18,50 €;;;;".encode("cp1252"))
    found = collect(place)
    [offer] = found.offers
    assert (offer.instance_type, offer.hourly_rate, offer.currency) == ("Küche", Decimal("18.50"), "EUR")
    assert found.notes == ("row 2 is not UTF-8; read as Windows-1252, as Excel saves",)


def test_another_encoding_is_said_by_row(tmp_path):
    place = tmp_path / "rates.csv"
    place.write_bytes(f"{HEADER}\nus,".encode() + b"\x81\x8d" + b",V100,1,on_demand,,1,,,,USD")
    with pytest.raises(SourceError, match="row 2 is not UTF-8: save it as"):
        collect(place)


def test_the_unicode_text_of_excel_is_read(tmp_path):
    place = tmp_path / "rates.txt"
    place.write_bytes(
        f"{HEADER.replace(',', chr(9))}\r\nus\tKüche\tV100\t1\ton_demand\t\t18,50\t\t\t\tEUR".encode("utf-16")
    )
    [offer] = collect(place).offers
    assert (offer.instance_type, offer.hourly_rate) == ("Küche", Decimal("18.50"))


def test_the_documentation_lists_the_columns():
    page = (RECORDINGS.parents[1] / "docs" / "price-sources-sheet.md").read_text(encoding="utf-8")
    assert [column for column in COLUMNS if f"| `{column}` |" not in page] == []


@pytest.mark.parametrize(
    ("provider", "typed", "code"),
    [
        ("AWS", "US East (N. Virginia)", "us-east-1"), ("Amazon Web Services", "us east (n. virginia)", "us-east-1"),
        ("aws", "EU (Frankfurt)", "eu-central-1"), ("aws", "Europe (Frankfurt)", "eu-central-1"),
        ("aws", "Frankfurt", "eu-central-1"),
        ("aws", "Asia Pacific (Taipei)", "ap-east-2"), ("aws", "South America (São Paulo)", "sa-east-1"),
        ("aws", "us-east-1a", "us-east-1"), ("aws", "US-EAST-1", "us-east-1"), ("aws", "us-east-9", "us-east-9"),
        ("aws", "Germany", "eu-central-1"), ("Azure", "North Europe", "northeurope"), ("Microsoft", "East US 2", "eastus2"),
        ("azure", "(US) East US", "eastus"),
        ("azure", "EU West", "westeurope"), ("azure", "westeurope", "westeurope"), ("azure", "West Europe", "westeurope"),
        ("Google Cloud", "us-central1-a", "us-central1"), ("gcp", "europe-west4", "europe-west4"),
        ("aws", "", "any"), ("aws", "Global", "any"), ("our-own", "Keller", "Keller"), ("lambda", "us-east-1", "us-east-1"),
    ],
)  # fmt: skip
def test_a_place_is_what_questions_understand(provider, typed, code):
    [offer] = read(f'{provider},"{typed}",x,V100,1,on_demand,1,USD', header=PLACED)
    assert offer.region == code


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("us-eats-1", "column region: 'us-eats-1' is no region of aws: type us-east-1"),
        ("Europe", "column region: 'Europe' has several regions of aws: type eu-"),
        ("Atlantis", "column region: 'Atlantis' is no region of aws: type "),
    ],
)
def test_a_place_that_is_none_or_several_is_refused(typed, said):
    assert said in fault(f"aws,{typed},x,V100,1,on_demand,1,USD", header=PLACED)


def test_the_faults_of_the_header_and_of_the_cells_are_named_at_once():
    said = fault("us,x,V100,1,on_demand,,one,,,,USD,1,2", header=HEADER + ",price,colour")
    assert [part in said for part in ("called 'price'", "called 'colour'", "row 2, column hourly_rate: 'one'")] == [
        True
    ] * 3


def test_a_rate_that_begins_later_is_not_the_rate_of_today():
    header = HEADER + ",effective_from"
    rows = [f"us,x,V100,1,on_demand,,{rate},,,,USD,{day}" for rate, day in ((1, "2026-01-01"), (2, "2027-01-01"))]
    for order in (rows, rows[::-1]):
        found = Catalogue.from_offers(read(*order, header=header), "x")
        [row] = found.current_offers(NOW, 540).listed.tolist()
        assert found.offer(row).hourly_rate == 1
        assert found.announced(row, NOW) is None
        assert found.announced(row, datetime(2026, 12, 20, tzinfo=UTC)).hourly_rate == 2
        [row] = found.current_offers(datetime(2027, 1, 2, tzinfo=UTC), 540).listed.tolist()
        assert found.offer(row).hourly_rate == 2
    [ahead] = read(rows[1], header=header)
    assert not len(Catalogue.from_offers([ahead], "x").current_offers(NOW, 540).listed)


def test_of_rates_that_differ_in_their_first_day_alone_the_last_to_have_begun_holds():
    header = HEADER + ",effective_from"
    days = ("", "2026-01-01", "2026-11-01")
    rows = [f"us,x,V100,1,on_demand,,{rate},,,,USD,{day}" for rate, day in enumerate(days, 1)]
    for order in (rows, rows[::-1]):
        [offer] = read(*order, header=header)
        assert offer.hourly_rate == 3
    assert "row 3, column instance_type: row 2 says the same" in fault(rows[1], rows[1], header=header)


@pytest.fixture(scope="module")
def exported():
    """A client, and the rows of `/offers` but for free tiers, which no sheet states."""
    client = create_app(packaged_service()).test_client()
    return client, [row for row in client.get("/offers").json["offers"] if row["purchase_option"] != "free"]


@pytest.mark.parametrize(
    ("layout", "provider"),
    [("", None), ("excel=1", "aws"), ("excel=1&sep=;&decimal=,", "gcp"), ("currency=EUR", "azure")],
)
def test_our_own_export_is_a_sheet(exported, layout, provider):
    client, rows = exported
    found = sheet(client.get(f"/offers.csv?{layout}{f'&provider={provider}' if provider else ''}").data, NOW).offers
    rows = [row for row in rows if provider in (None, row["provider"])]
    assert len(found) == len(rows) > 100
    names = ("provider", "region", "instance_type", "purchase_option", "term", "payment")
    read = sorted((*(str(getattr(offer, name)) for name in names), float(offer.hourly_rate)) for offer in found)
    written = sorted((*(str(row[name]) for name in names), row["hourly_rate"]) for row in rows)
    assert [row[:-1] for row in read] == [row[:-1] for row in written]
    if "currency" not in layout:
        assert [row[-1] for row in read] == pytest.approx([row[-1] for row in written])
    assert not {SECOND_HAND, ROUNDED} & {flag for offer in found for flag in offer.flags}


@pytest.mark.parametrize(
    ("row", "header"),
    [
        ("{key},p3.2xlarge", "provider,instance_type"),
        ("aws,p3.2xlarge,V100,1,on_demand,,{key},,,,USD", HEADER),
        ("aws,p3.2xlarge,{key},1,on_demand,,1,,,,USD", HEADER),
        ("aws,p3.2xlarge,V100,{key},on_demand,,1,,,,USD", HEADER),
        ("aws,p3.2xlarge,V100,1,{key},,1,,,,USD", HEADER),
        ("aws,p3.2xlarge,V100,1,reserved,{key},1,,,,USD", HEADER),
        ("aws,p3.2xlarge,V100,1,on_demand,,1,,,,{key}", HEADER),
        ("x", "AWS_SECRET_ACCESS_KEY={key}"),
    ],
)
def test_what_may_be_a_key_is_in_no_message(row, header):
    """Somebody names the file of their keys as the sheet: everybody reads why a source failed."""
    key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    assert key not in fault(row.format(key=key), header=header.format(key=key))
