"""Libraries of linear algebra use one thread, if this is imported before numpy and PyTorch: more fight over a busy machine."""

import os

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
