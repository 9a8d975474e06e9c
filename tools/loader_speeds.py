"""How many images a second this machine's processors prepare for training: `python -m tools.loader_speeds FILE`.

Whole pipelines: JPEGs in memory, decoded, cropped at random and resized, flipped, scaled and put into batches by PyTorch's
DataLoader, with Pillow, OpenCV or torchvision's own decoder, in one process and in one for each virtual core.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from own_runs.measure.pipeline import DEVIATION, MEAN, pictures

SIDE, BATCH = 224, 64
LARGE_WIDTH, LARGE_HEIGHT, LARGE_QUALITY = 1200, 900, 90


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is measured: `decoder` reads `stored` files in so many worker processes."""

    decoder: str
    stored: str
    workers: int


@cache
def files(stored: str) -> tuple[bytes, ...]:
    """JPEGs like ImageNet's (110 kB), or as a camera's, made small (about 500 kB)."""
    if stored == "imagenet":
        return tuple(pictures())
    from PIL import Image

    larger = []
    for each in pictures():
        buffer = io.BytesIO()
        image = Image.open(io.BytesIO(each)).resize((LARGE_WIDTH, LARGE_HEIGHT))
        noisy = np.asarray(image, np.int16) + np.random.default_rng(3).integers(-9, 10, (LARGE_HEIGHT, LARGE_WIDTH, 1))
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=LARGE_QUALITY)
        larger.append(buffer.getvalue())
    return tuple(larger)


class Images(Dataset[Any]):
    """Endless images."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.files = files(pipeline.stored)
        self.prepare = PREPARE[pipeline.decoder]()

    def __len__(self) -> int:
        return 10**7

    def __getitem__(self, index: int) -> Any:
        return self.prepare(self.files[index % len(self.files)])


def _pillow() -> Any:
    from PIL import Image
    from torchvision import transforms

    usual = transforms.Compose(
        [
            transforms.RandomResizedCrop(SIDE),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, DEVIATION),
        ]
    )
    return lambda data: usual(Image.open(io.BytesIO(data)).convert("RGB"))


def _torchvision() -> Any:
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms import v2

    usual = v2.Compose(
        [
            v2.RandomResizedCrop(SIDE, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, DEVIATION),
        ]
    )
    return lambda data: usual(decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), ImageReadMode.RGB))


def _opencv() -> Any:
    import cv2
    from torchvision.transforms import RandomResizedCrop

    cv2.setNumThreads(0)
    mean, deviation = (np.array(each, np.float32) for each in (MEAN, DEVIATION))
    random = np.random.default_rng()

    def prepare(data: bytes) -> Any:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        top, left, height, width = RandomResizedCrop.get_params(
            torch.empty(3, *pixels.shape[:2]), [0.08, 1.0], [3 / 4, 4 / 3]
        )
        cropped = cv2.resize(
            pixels[top : top + height, left : left + width], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR
        )
        cropped = cropped[:, :: 1 if random.random() < 0.5 else -1, ::-1]
        return torch.from_numpy(
            np.ascontiguousarray(((cropped / np.float32(255) - mean) / deviation).transpose(2, 0, 1))
        )

    return prepare


PREPARE = {"Pillow": _pillow, "OpenCV": _opencv, "torchvision": _torchvision}


def images_per_second(pipeline: Pipeline, seconds: float) -> float:
    """The rate of the whole loader, after every worker has made two batches."""
    torch.set_num_threads(1)
    loader = DataLoader(Images(pipeline), BATCH, num_workers=pipeline.workers, worker_init_fn=_one_thread)
    batches = iter(loader)
    for _ in range(3 * pipeline.workers):
        next(batches)
    start, done = time.perf_counter(), 0
    while (spent := time.perf_counter() - start) < seconds:
        done += len(next(batches))
    return done / spent


def _one_thread(_: int) -> None:
    torch.set_num_threads(1)


def main(arguments: list[str] | None = None) -> None:
    """Measures each pipeline alone and on all cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args(arguments)
    cores = len(os.sched_getaffinity(0))
    with options.file.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["decoder", "stored", "workers", "mean_bytes", "images_per_second"])
        for stored in ("imagenet", "large"):
            size = int(np.mean([len(each) for each in files(stored)]))
            for decoder in PREPARE:
                for workers in (1, cores // 2, cores) if stored == "imagenet" else (cores,):
                    pipeline = Pipeline(decoder, stored, workers)
                    try:
                        rate: Any = round(images_per_second(pipeline, options.seconds), 1)
                    except (RuntimeError, ValueError, ImportError, OSError) as error:  # the others are measured
                        traceback.print_exc()
                        rate = f"{type(error).__name__}: {error}"[:100]
                    row = [*asdict(pipeline).values(), size, rate]
                    table.writerow(row)
                    file.flush()
                    print(*row, flush=True)


if __name__ == "__main__":
    sys.exit(main())
