"""A machine whose accelerator is known, and not how many it has: listed, and never timed."""

from support.prices import offer
from support.services import packaged_catalogue, service_of

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offer import COUNT_NOT_STATED
from pricing.packaged.machine_facts import packaged_machines
from pricing.packaged.names import uncounted

NEW = "g9.12xlarge"


def test_a_family_or_a_part_of_the_name_says_the_chip_and_nothing_else_does():
    known = packaged_machines("aws")
    found = {
        name: uncounted("aws", name, known) for name in ("g6e.96xlarge", "p9-b300.xlarge", "p4.xlarge", "m9.large")
    }
    assert {name: machine and machine.accelerator for name, machine in found.items()} == {
        "g6e.96xlarge": "L40S",
        "p9-b300.xlarge": "B300",
        "p4.xlarge": None,
        "m9.large": None,
    }


def test_its_rate_is_listed_and_no_training_is_timed_on_it():
    catalogue = packaged_catalogue()
    rate = offer(instance_type=NEW, machine=Machine("H100", 0, 80, 48, 192), flags=(COUNT_NOT_STATED,))
    offers = [*map(catalogue.offer, range(0, len(catalogue), 100)), rate]
    client = create_app(service_of(FixedPrices(Catalogue.from_offers(offers, "uncounted")))).test_client()
    [row] = client.get(f"/offers?instance_type={NEW}&format=json").get_json()["offers"]
    assert (row["accelerator"], row["flags"]) == ("H100", [COUNT_NOT_STATED])
    assert "count not stated" in client.get(f"/offers?instance_type={NEW}", headers={"Accept": "text/html"}).text
    asked = client.get(f"/cost?model=resnet50&target=0.757&instance_type={NEW}&format=json").get_json()
    assert (asked["count"], asked["rejections"]["no_throughput"]) == (0, 1)
