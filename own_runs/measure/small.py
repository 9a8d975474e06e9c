"""What decides small networks on this machine: the fixed costs of steps and layers, arithmetic and transfer, each measured."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from costcalc.small_networks import SmallDevice, SmallNetwork, Training, step_time
from own_runs.measure.devices import Device
from own_runs.measure.training import SHORTEST_SECONDS, seconds

FEW, MANY, UNITS = 2, 12, 8  # layers too narrow to compute anything, to tell fixed costs from those of each layer
SIDES = {"cpu": 512}
USUAL_SIDE = 4096  # of matrices that keep a device busy
SENT_BYTES = 16 * 2**20
REPEATS, REPEAT_SECONDS, FACTOR_80 = 15, 0.04, 1.5
TRIED, TRIED_BATCH = SmallNetwork((100, 10), 784), 64
"""The network that the constants are tried on: a hidden layer of 100 units."""


def small_device(device: Device, source: str) -> SmallDevice:
    """The constants of this device. Real layers lie within FACTOR_80 of what follows from them, in our trials."""
    few, many = (_step_seconds(SmallNetwork((UNITS,) * layers, UNITS), 1, device) for layers in (FEW, MANY))
    layer, sent = max(many - few, 0.0) / (MANY - FEW), torch.empty(SENT_BYTES, dtype=torch.uint8)
    sending = 0.0 if device.kind == "cpu" else _seconds(lambda: sent.to(device.torch_device), device)
    return SmallDevice(
        name=device.name,
        step_seconds=max(few - FEW * layer, 0.0),
        layer_seconds=layer,
        operations_per_second=operations_per_second(device),
        transfer_bytes_per_second=SENT_BYTES / sending if sending else None,
        factor_80=FACTOR_80,
        evidence="measured",
        source=source,
    )


def tried(device: Device, constants: SmallDevice) -> tuple[float, float]:
    """Seconds of a step of that network: as the constants predict, and as measured."""
    predicted = step_time(Training(TRIED, TRIED_BATCH, TRIED_BATCH, 1), constants).seconds
    return predicted, _step_seconds(TRIED, TRIED_BATCH, device)


def dense(network: SmallNetwork) -> nn.Module:
    """Dense layers of these widths with rectifiers between them."""
    ins = (network.inputs, *network.widths[:-1])
    layers = [nn.Linear(before, after) for before, after in zip(ins, network.widths, strict=True)]
    return nn.Sequential(*(each for layer in layers[:-1] for each in (layer, nn.ReLU())), layers[-1])


def _step_seconds(network: SmallNetwork, batch_size: int, device: Device) -> float:
    """Seconds of a whole step, whose batch is sent from the host's memory."""
    place = device.torch_device
    module = dense(network).to(place)
    samples = torch.randn(batch_size, network.inputs)
    labels = torch.randint(network.widths[-1], (batch_size,))
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(module(samples.to(place)), labels.to(place)).backward()
        optimizer.step()

    return _seconds(step, device)


def operations_per_second(device: Device) -> float:
    """Multiplications and additions of large matrix products in 32 bits."""
    side = SIDES.get(device.kind, USUAL_SIDE)
    left, right = (torch.randn(side, side, device=device.torch_device) for _ in range(2))
    return 2 * side**3 / _seconds(lambda: left @ right, device)


def _seconds(work: Callable[[], object], device: Device) -> float:
    """The time of one call, in the fastest of several repeats: other programs only delay (docs.python.org, timeit)."""
    _repeat(work, device, 1)
    times = max(1, int(REPEAT_SECONDS / _repeat(work, device, 1)))
    return min(_repeat(work, device, times) for _ in range(REPEATS))


def _repeat(work: Callable[[], object], device: Device, times: int) -> float:
    device.synchronize()
    start = seconds(device)
    for _ in range(times):
        work()
    device.synchronize()
    return max(seconds(device) - start, SHORTEST_SECONDS) / times
