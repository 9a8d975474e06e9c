"""How many images a second this machine prepares as PyTorch programs usually do it: with Pillow, in a process for each core."""

from __future__ import annotations

import io
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time

import numpy as np

PICTURES, WIDTH, HEIGHT, QUALITY = 32, 500, 375, 92  # like ImageNet's, image-net.org: 110 kB each on average
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def pictures() -> list[bytes]:
    """Random pictures as JPEG, smooth enough to be as large as photographs."""
    from PIL import Image

    random = np.random.default_rng(1)
    coarse = random.integers(0, 255, (PICTURES, HEIGHT // 4, WIDTH // 4, 3), np.uint8)
    files = []
    for pixels in coarse:
        buffer = io.BytesIO()
        Image.fromarray(pixels).resize((WIDTH, HEIGHT)).save(buffer, "JPEG", quality=QUALITY)
        files.append(buffer.getvalue())
    return files


def images_per_second(side: int, workers: int, seconds: float) -> float:
    """The rate of so many processes together."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        list(pool.map(prepare, [(side, 0.1)] * workers))  # starts them
        return sum(pool.map(prepare, [(side, seconds)] * workers))


def prepare(job: tuple[int, float]) -> float:
    """Prepares images of this side for so many seconds of the processor, in one process; returns images per second."""
    from PIL import Image

    (side, seconds), files, random, done = job, pictures(), np.random.default_rng(2), 0
    start = process_time()
    while (spent := process_time() - start) < seconds:
        picture = Image.open(io.BytesIO(files[done % len(files)])).convert("RGB")
        width = height = int(min(WIDTH, HEIGHT) * random.uniform(0.3, 1))
        left, top = int(random.integers(WIDTH - width + 1)), int(random.integers(HEIGHT - height + 1))
        cropped = picture.resize((side, side), box=(left, top, left + width, top + height))
        pixels = np.asarray(cropped, np.float32)[:, :: 1 if random.random() < 0.5 else -1]
        np.ascontiguousarray(((pixels / 255 - MEAN) / DEVIATION).transpose(2, 0, 1))
        done += 1
    return done / spent
