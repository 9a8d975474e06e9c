"""Applications that keep runs, and a run of ten epochs on four A100 for them."""

from fakes.kept_runs import KeptRuns
from support.services import packaged_service

from api.settings import Settings
from api.web.app import create_app

RUN = "/recipes?name=my-run&accelerator=4xA100-80GB&batch_size=256&samples_per_epoch=4500000&dataset=wmt14"


LOG = "epoch,minutes,bleu\n" + "".join(f"{epoch},{12 * epoch},{30 * (1 - 0.7**epoch)}\n" for epoch in range(1, 11))


def app_of(**settings):
    """An application that keeps runs in memory."""
    kept = KeptRuns()
    service = packaged_service().changed(runs=kept, keeper=kept)
    return create_app(service, Settings(**settings))


def add(app, metric="bleu", **more):
    """Adds a run whose metric rises to nearly 30, or falls from 30 if it is a loss."""
    values = [30 * 0.7**epoch if metric == "loss" else 30 * (1 - 0.7**epoch) for epoch in range(1, 11)]
    log = "".join(f"{epoch},{12 * epoch},{value}\n" for epoch, value in enumerate(values, 1))
    added = app.test_client().post(RUN, data=f"epoch,minutes,{metric}\n{log}", **more)
    assert added.status_code == 201, added.text
