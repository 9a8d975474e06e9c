"""How many images a second one processor prepares for training: `python -m tools.measure_pipelines`.

Pictures like ImageNet's (500 x 375 pixels, 110 kB as JPEG) are decoded, cropped at random, resized to 224 pixels, mirrored at
random and made an array, by each library that is installed (`pip install costcalc[pipelines]`). Time is that of the processor
alone, so that other programs don't count. Prints lines for `costcalc/evidence/data/data_pipelines.csv`.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, SIDE, JPEG_BYTES = 500, 375, 224, 110_000
PICTURES, BATCH, WARM_UP, REPEATS = 128, 64, 2, 7
Picture = NDArray[np.uint8]
Prepare = Callable[[list[bytes]], Any]


def picture(random: np.random.Generator) -> Picture:
    """A picture whose detail falls with its frequency as in photographs (1/f), with the outlines of a few things."""
    frequency = np.hypot(np.fft.fftfreq(HEIGHT)[:, None], np.fft.rfftfreq(WIDTH)[None, :])
    frequency[0, 0] = 1

    def plane(power: float) -> NDArray[np.float64]:
        waves = random.normal(size=frequency.shape) + 1j * random.normal(size=frequency.shape)
        values = np.fft.irfft2(waves / frequency**power, s=(HEIGHT, WIDTH))
        return np.asarray((values - values.mean()) / values.std())

    light, red, blue = plane(1.2), plane(1.6), plane(1.6)
    colours = np.stack([light + 0.4 * red, light - 0.2 * red - 0.2 * blue, light + 0.4 * blue], axis=-1)
    colours = 45 * colours + random.uniform(80, 170)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for _ in range(12):
        x, y, radius = random.uniform(0, WIDTH), random.uniform(0, HEIGHT), random.uniform(10, 120)
        outline = np.abs(np.hypot(columns - x, (rows - y) * 1.4) - radius) < random.uniform(0.5, 2)
        colours[outline] = random.uniform(0, 255, 3)
    return np.clip(colours, 0, 255).astype(np.uint8)


def jpegs(seed: int = 1) -> list[bytes]:
    """Such pictures as JPEG, in the quality that makes them ImageNet's size on average."""
    from PIL import Image

    random = np.random.default_rng(seed)
    pictures = [Image.fromarray(picture(random)) for _ in range(PICTURES)]

    def encoded(quality: int) -> list[bytes]:
        buffers = [io.BytesIO() for _ in pictures]
        for one, buffer in zip(pictures, buffers, strict=True):
            one.save(buffer, "JPEG", quality=quality)
        return [buffer.getvalue() for buffer in buffers]

    return min(
        map(encoded, (88, 90, 92, 93, 94, 95)), key=lambda some: abs(sum(map(len, some)) - PICTURES * JPEG_BYTES)
    )


def crop(random: np.random.Generator) -> tuple[int, int, int, int]:
    """Left, top, width and height of a random part of 8 to 100 % of the picture, a third wider than high or higher than wide."""
    while True:
        area, ratio = WIDTH * HEIGHT * random.uniform(0.08, 1), np.exp(random.uniform(*np.log([3 / 4, 4 / 3])))
        width, height = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
        if width <= WIDTH and height <= HEIGHT:
            return int(random.integers(WIDTH - width + 1)), int(random.integers(HEIGHT - height + 1)), width, height


def normalised(pixels: Any) -> NDArray[np.float32]:
    """Channels first, as networks take them."""
    values = (np.asarray(pixels, np.float32) - 124) / 58
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def pillow(random: np.random.Generator) -> Prepare:
    """Pillow, as PyTorch's DataLoader and torchvision use it."""
    from PIL import Image

    def one(jpeg: bytes) -> NDArray[np.float32]:
        image = Image.open(io.BytesIO(jpeg)).convert("RGB")
        left, top, width, height = crop(random)
        box = (left, top, left + width, top + height)
        image = image.resize((SIDE, SIDE), Image.Resampling.BILINEAR, box)
        return normalised(image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image)

    return lambda batch: np.stack([one(jpeg) for jpeg in batch])


def opencv(random: np.random.Generator) -> Prepare:
    """OpenCV, as MXNet's RecordIO and tensorpack use it."""
    import cv2

    cv2.setNumThreads(0)

    def one(jpeg: bytes) -> NDArray[np.float32]:
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        left, top, width, height = crop(random)
        image = cv2.resize(image[top : top + height, left : left + width], (SIDE, SIDE))
        return normalised(cv2.flip(image, 1) if random.random() < 0.5 else image)

    return lambda batch: np.stack([one(jpeg) for jpeg in batch])


def tensorflow(random: np.random.Generator) -> Prepare:
    """tf.data, which decodes no more of a picture than its crop needs."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def one(jpeg: Any) -> Any:
        whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
        corner, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(jpeg), whole, seed=int(random.integers(1 << 30)), area_range=(0.08, 1.0)
        )
        image = tf.image.decode_and_crop_jpeg(jpeg, tf.concat([corner[:2], size[:2]], axis=0), channels=3)
        return (tf.image.random_flip_left_right(tf.image.resize(image, [SIDE, SIDE])) - 124.0) / 58.0

    endless: list[Iterator[Any]] = []

    def prepare(batch: list[bytes]) -> Any:
        if not endless:
            endless.append(iter(tf.data.Dataset.from_tensor_slices(batch).repeat().map(one).batch(len(batch))))
        return next(endless[0])

    return prepare


def dali(random: np.random.Generator) -> Prepare:
    """DALI on the processor."""
    from nvidia.dali import fn, pipeline_def, types

    waiting: list[bytes] = []

    @pipeline_def(
        batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1, seed=int(random.integers(1 << 30))
    )
    def pipeline() -> Any:
        encoded = fn.external_source(source=lambda: [np.frombuffer(jpeg, np.uint8) for jpeg in waiting])
        image = fn.resize(fn.decoders.image_random_crop(encoded, output_type=types.RGB), size=[SIDE, SIDE])
        return fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), mean=[124.0] * 3, std=[58.0] * 3)

    made: list[Any] = []

    def prepare(batch: list[bytes]) -> Any:
        waiting[:] = batch
        if not made:
            made.append(pipeline())
            made[0].build()
        return made[0].run()

    return prepare


PIPELINES: dict[str, tuple[str, str, Callable[[np.random.Generator], Prepare]]] = {
    "pytorch": ("PIL", "Pillow", pillow),
    "opencv": ("cv2", "OpenCV", opencv),
    "tfdata": ("tensorflow", "tf.data", tensorflow),
    "dali_cpu": ("nvidia.dali", "DALI on the processor", dali),
}


def rates(prepare: Prepare, pictures: list[bytes]) -> list[float]:
    """Images per second of processor time, once for each repetition after those to warm up."""
    batches = [pictures[start : start + BATCH] for start in range(0, len(pictures), BATCH)]
    found = []
    for _ in range(WARM_UP + REPEATS):
        started = time.process_time()
        for batch in batches:
            prepare(batch)
        found.append(len(pictures) / (time.process_time() - started))
    return found[WARM_UP:]


def processor() -> str:
    """The model, clock and hyperthreading of this machine's processors, as Linux tells."""
    info = dict(
        (part.strip() for part in line.split(":", 1))
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if ":" in line
    )
    family = f"family {info.get('cpu family', '?')} model {info.get('model', '?')}"
    siblings = Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list").read_text().strip()
    threads = 2 if any(sign in siblings for sign in ",-") else 1
    return f"{info.get('model name', platform.processor())} ({family}) {threads} thread{'s' * (threads > 1)} a core"


def measured(pictures: list[bytes]) -> Iterator[list[object]]:
    """A line of the table for each library that is installed."""
    for name, (module, decoder, make) in PIPELINES.items():
        if importlib.util.find_spec(module.split(".")[0]) is None:
            print(f"{decoder} is not installed", file=sys.stderr)
            continue
        found = rates(make(np.random.default_rng(2)), pictures)
        spread = f"median of {len(found)}, {min(found):.0f} to {max(found):.0f}"
        yield [name, decoder, round(median(found)), processor(), spread, datetime.now(UTC).date().isoformat()]


def main() -> None:
    """Measures and prints."""
    pictures = jpegs()
    print(f"{len(pictures)} pictures, {sum(map(len, pictures)) / len(pictures) / 1000:.0f} kB each", file=sys.stderr)
    csv.writer(sys.stdout).writerows(measured(pictures))


if __name__ == "__main__":
    main()
