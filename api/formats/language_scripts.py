"""The script of a language model by tokens that a rented machine runs: transformers and peft, installed when it starts."""

from __future__ import annotations

from importlib.resources import files

from api.formats.launch_scripts import CHECKPOINTS, NODES
from costcalc.answers import Estimate
from costcalc.query import EstimateQuery
from costcalc.throughput.language.memory import card_gib, most_sequences
from own_runs.tokens import TokenTraining

PROGRAM = "train_language_model.txt"
SCRIPT = """\
set -euo pipefail
{nodes}
pip install --quiet "torch>=2.5" "transformers>=5,<6" "peft>=0.17" "datasets>=3" "accelerate>=1.2"{four_bits}
cat > train.py << 'END_OF_PROGRAM'
{program}END_OF_PROGRAM
mkdir -p "$OUT"
timeout --kill-after=60 "$LIMIT_SECONDS" torchrun --nnodes="$NODES" --node_rank="$NODE_RANK" --master_addr="$MASTER_ADDR" \\
  --master_port=29500 --nproc_per_node="$GPUS" train.py
"""


def language_script(query: EstimateQuery, launcher: str) -> str:
    """The script; what it reads from its environment is in `language_environment`."""
    program = (files(__package__) / "data" / PROGRAM).read_text("utf-8")
    four_bits = ' "bitsandbytes>=0.45"' if query.method == "qlora" else ""
    return SCRIPT.format(nodes=NODES[launcher], program=program, four_bits=four_bits)


def language_environment(query: EstimateQuery, estimate: Estimate) -> dict[str, object]:
    """What is trained, how much of it at once, and where."""
    training = TokenTraining.of(query)
    assert training is not None
    work, memory = training.work, estimate.accelerator_memory_gib or 0.0
    micro = max(most_sequences(work, estimate.accelerators, memory), 1)
    return {
        "HUB": work.network.hub,
        "METHOD": work.method,
        "LENGTH": work.length,
        "TOKENS": f"{query.tokens:.0f}" if query.tokens else None,
        "EPOCHS": f"{training.passes:g}",
        "PACKED": int(training.is_packed),
        "MICRO_BATCH": micro,
        "STEPS_GATHERED": max((work.batch or 0) // (micro * estimate.accelerators), 1),
        "SHARDED": int(estimate.accelerators > 1 and card_gib(work, micro) > memory),
        "NODES": estimate.nodes,
        "GPUS": estimate.accelerators // estimate.nodes,
        "OUT": CHECKPOINTS,
    }
