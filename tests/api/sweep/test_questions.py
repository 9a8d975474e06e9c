"""The questions of a sweep: their order, their parts, and prices that are read once."""

from copy import copy
from datetime import UTC, datetime

from support.services import packaged_service, service_of

from api.bootstrap import FixedPrices
from api.sweep.axes import Axis
from api.sweep.questions import Sweep, knowing, questions, sweep

SWEPT = Sweep((Axis("model", ("a", "b")), Axis("target", ("1", "2", "3"))), (Axis("nodes", ("4",)),))


class Store(FixedPrices):
    """Prices that begin in 2026, and earlier ones that are counted as they are read."""

    read = 0

    def catalogue(self):
        young = copy(self.fixed)
        young.known_since = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
        return young

    def catalogue_at(self, moments):
        type(self).read += 1
        return self.catalogue()


def test_every_combination_has_one_number_and_every_model_one_run_of_them():
    every = [SWEPT.given(number) for number in range(1, SWEPT.count + 1)]
    assert every[0] == {"model": ["a"], "target": ["1"], "nodes": ["4"]}
    assert len({str(each) for each in every}) == SWEPT.count == 6
    for most in (1, 2, 4, 7):
        parts = list(SWEPT.parts(most))
        assert [number for _, numbers in parts for number in numbers] == list(range(1, 7))
        assert all(SWEPT.given(number)["model"] == [model] for model, numbers in parts for number in numbers)
        assert max(len(numbers) for _, numbers in parts) <= most


def test_names_become_ours_once_and_every_model_can_be_meant():
    service = packaged_service()
    asked = sweep(service, ["target=0.7", "model=ResNet-50,resnet50,resnet18"], {}, "2026-11-01")
    assert asked.models == ("resnet50", "resnet18")
    assert asked.given(2) == {"model": ["resnet18"], "target": ["0.7"], "as_of": ["2026-11-01"]}
    assert len(sweep(service, ["target=0.7"], {"model": ["all"]}, "2026-11-01").models) == len(service.evidence.models)


def test_earlier_prices_are_read_once():
    packaged = packaged_service()
    service = service_of(Store(packaged.catalogue()))
    asked = sweep(service, ["model=resnet50", "target=0.7", "as_of=2019-01..2025-01/1y"], {"limit": ["1"]}, "")
    Store.read = 0
    found = list(questions(knowing(service, asked), asked, range(1, 8)))
    assert Store.read == 1
    assert all(question.answer.estimates for question in found)
