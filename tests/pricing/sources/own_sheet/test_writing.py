"""Amounts and days as spreadsheets of several countries write them: understood, or refused with both readings."""

from decimal import Decimal

import pytest
from support.recorded_sources import NOW

from pricing.sources.own_sheet.source import offers
from pricing.sources.source import SourceError

HEADER = ("provider", "instance_type", "accelerator", "accelerators", "purchase_option", "hourly_rate", "monthly", "currency",
          "observed_at")  # fmt: skip
NBSP, NARROW, THIN = "\u00a0", "\u202f", "\u2009"


def read(delimiter, *rows, header=HEADER, before=""):
    """Offers of rows of hourly rate, monthly, currency and day."""
    table = [("us", f"machine {at}", "V100", "1", "on_demand", *row) for at, row in enumerate(rows)]
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in (header, *table)]
    return offers(before + "\r\n".join(delimiter.join(row) for row in quoted), NOW)


@pytest.mark.parametrize(
    ("delimiter", "cell", "euros"),
    [
        (";", "18,50", "18.50"), (";", "18,5", "18.5"), (";", "0,125", "0.125"), (";", "3,0668", "3.0668"),
        (";", "1.234,50", "1234.50"), (";", "1.234.567,8", "1234567.8"), (";", f"1{NBSP}234,50", "1234.50"),
        (";", f"1{NARROW}234{NARROW}567,8", "1234567.8"), (";", f"1{THIN}234,50", "1234.50"), (";", "1 234,50", "1234.50"),
        (";", "18,50 €", "18.50"), (";", f"18,50{NBSP}€", "18.50"), (";", "€ 18,50", "18.50"), (";", "18,50 EUR", "18.50"),
        (";", "EUR 18,50", "18.50"), ("\t", "18,50", "18.50"), (";", "18.50", "18.50"), (";", "1'234.50", "1234.50"),
        (",", "18.50", "18.50"), (",", "1,234.50", "1234.50"), (",", "€1,234.50", "1234.50"), (",", "3.066", "3.066"),
    ],
)  # fmt: skip
def test_an_amount_is_understood(delimiter, cell, euros):
    [offer] = read(delimiter, (cell, "", "EUR", ""))
    assert (offer.hourly_rate, offer.currency) == (Decimal(euros), "EUR")


@pytest.mark.parametrize(
    ("delimiter", "cells", "said"),
    [
        (";", ["7.500"], "'7.500' is no amount: it can be read two ways: type 7500 or 7.5"),
        (";", ["3,066"], "'3,066' is no amount: it can be read two ways: type 3066 or 3.0660"),
        (",", ["1,234"], "'1,234' is no amount: it can be read two ways: type 1234 or 1.2340"),
        (";", ["18,50", "18.50"], "row 3, column hourly_rate: '18.50' is no amount: type digits with a point"),
        (",", ["18,50"], "'18,50' is no amount: type digits with a point, such as 1234.50"),
        (";", ["1.23,45"], "'1.23,45' is no amount"),
        (";", ["12.34.567"], "'12.34.567' is no amount"),
        (";", ["18,50 $"], "column hourly_rate: is in $, the currency of the row is EUR: type one of them"),
        (";", ["18,50 USD"], "column hourly_rate: is in USD, the currency of the row is EUR: type one of them"),
        (";", ["-18,50"], "'-18,50' is no amount"),
        (";", ["one"], "'one' is no amount"),
    ],
)
def test_an_amount_that_can_be_two_or_none_is_refused(delimiter, cells, said):
    with pytest.raises(SourceError) as refused:
        read(delimiter, *[(cell, "", "EUR", "") for cell in cells])
    assert said in str(refused.value)


def test_another_cell_tells_what_one_alone_does_not():
    month, hour = read(";", ("", "7.500", "EUR", ""), ("18,50", "", "EUR", ""))
    assert (month.monthly, hour.hourly_rate) == (7500, Decimal("18.50"))
    dear, cheap = read(",", ("1,234", "", "EUR", ""), ("18.50", "", "EUR", ""))
    assert (dear.hourly_rate, cheap.hourly_rate) == (1234, Decimal("18.50"))


@pytest.mark.parametrize(
    ("delimiter", "rate", "cells", "day"),
    [
        (";", "18,50", ["20.11.2026"], "2026-11-20"), (";", "18,50", ["3.4.2026"], "2026-04-03"),
        (";", "18,50", ["03.04.26"], "2026-04-03"), (";", "18,50", ["03/04/2026"], "2026-04-03"),
        (",", "18.50", ["20/11/2026"], "2026-11-20"), (",", "18.50", ["11/20/2026"], "2026-11-20"),
        (",", "18.50", ["03/04/2026", "20/04/2026"], "2026-04-03"), (",", "18.50", ["03/04/2026", "04/20/2026"], "2026-03-04"),
        (",", "18.50", ["05/05/2026"], "2026-05-05"), (",", "18.50", ["2026-11-20"], "2026-11-20"),
        (",", "18.50", ["2026-11-20 00:00:00"], "2026-11-20"), (",", "18.50", ["2026-11-20T00:00:00Z"], "2026-11-20"),
    ],
)  # fmt: skip
def test_a_day_is_understood(delimiter, rate, cells, day):
    first, *_ = read(delimiter, *[(rate, "", "EUR", cell) for cell in cells])
    assert f"{first.observed_at:%Y-%m-%d}" == day


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("03/04/2026", "is no date: it can be two days: type 2026-03-04 or 2026-04-03"),
        ("31.02.2026", "is no date: type year-month-day"),
        ("November 2026", "is no date: type year-month-day"),
        ("46346", "is no date: type year-month-day"),
    ],
)
def test_a_day_that_can_be_two_or_none_is_refused(cell, said):
    with pytest.raises(SourceError, match="column observed_at: ") as refused:
        read(",", ("18.50", "", "EUR", cell))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("currency", "rate", "code"),
    [("€", "18,50", "EUR"), ("Euro", "18,50", "EUR"), ("£", "18,50", "GBP"), ("", "18,50 €", "EUR"), ("usd", "$18,50", "USD"),
     ("CAD", "18,50 $", "CAD"), ("US$", "18,50", "USD")],
)  # fmt: skip
def test_a_currency_is_read_from_its_column_or_beside_the_amount(currency, rate, code):
    [offer] = read(";", (rate, "", currency, ""))
    assert offer.currency == code


@pytest.mark.parametrize("title", ["hourly_rate (EUR)", "Hourly rate EUR", "hourly rate [€]", "hourly_rate €"])
def test_a_currency_may_stand_in_the_header(title):
    header = (*HEADER[:5], title, "monthly", "source", "observed_at")
    [offer] = read(";", ("18,50", "", "a quote", ""), header=header)
    assert (offer.hourly_rate, offer.currency) == (Decimal("18.50"), "EUR")


def test_the_line_in_which_excel_names_the_separator_is_no_row():
    with pytest.raises(SourceError, match="sheet: row 2, column hourly_rate"):
        read(";", ("one", "", "EUR", ""), before="sep=;\r\n")
    [offer] = read(";", ("18,50", "", "EUR", "20.11.2026"), before="sep=;\r\n")
    assert offer.hourly_rate == Decimal("18.50")
