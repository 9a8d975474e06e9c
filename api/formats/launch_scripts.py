"""The scripts that a rented machine runs: of recipes' code, which stop at the target or the limit, and of language models."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from costcalc.answers import Estimate
from costcalc.query import EstimateQuery
from costcalc.throughput.language.memory import card_gib, most_sequences
from own_runs.tokens import TokenTraining
from pricing.packaged.starts import CommandLine, Start

DATA = "/data/imagenet"
"""Where the script looks for ImageNet."""
CHECKPOINTS = "/checkpoints"
"""Where it keeps checkpoints, if it is told where they lie."""
NODES = {
    "skypilot": 'NODE_RANK=${SKYPILOT_NODE_RANK:-0}\nMASTER_ADDR=$(echo "${SKYPILOT_NODE_IPS:-127.0.0.1}" | head -n 1)',
    "dstack": "NODE_RANK=${DSTACK_NODE_RANK:-0}\nMASTER_ADDR=${DSTACK_MASTER_NODE_IP:-127.0.0.1}",
}
"""How a machine learns which of them it is, and where the first one is."""
SCRIPT = """\
set -euo pipefail
if ! [ -d "$DATA/train" ] || ! [ -d "$DATA/val" ]; then
  echo "$DATA has no folders train and val: ask for the file again with data=, or put ImageNet there" >&2
  exit 1
fi
if [ "$(nvidia-smi --list-gpus | wc -l)" -lt "$GPUS" ]; then
  echo "the machine shows fewer than $GPUS accelerators" >&2
  exit 1
fi
{nodes}
DISTRIBUTED="--nnodes=$NODES --node_rank=$NODE_RANK --master_addr=$MASTER_ADDR --master_port=29500 --nproc_per_node=$GPUS"
export DISTRIBUTED
command -v git > /dev/null || {{ apt-get update -qq && apt-get install -qq -y git; }}
[ -d code ] || git clone --quiet --filter=blob:none {repository} code
cd code
git checkout --quiet {commit}
cd {folder}
{install}OUT=. RESUME= before=0
{kept}export OUT RESUME
train() {{
  set -euo pipefail
{train}
}}
export -f train
left=$((LIMIT_SECONDS - before - SECONDS))
: > training.log  # what an earlier run wrote would be read as this one's
timeout --kill-after=60 $((left > 0 ? left : 1)) bash -c train > training.log 2>&1 &
training=$!
trap 'kill ${{keeping:-}} $training 2> /dev/null || true' EXIT
tail --pid=$training -n +1 -F training.log 2> /dev/null &
{target}status=0
wait $training || status=$?
{ended}if [ -n "${{reached:-}}" ]; then
  echo "costcalc: reached $TARGET with $reached"
  exit 0
fi
[ $status -ne 124 ] || echo "costcalc: stopped after $LIMIT_SECONDS s, before the target" >&2
exit $status
"""
KEPT = """\
if [ -n "${{CHECKPOINTS:-}}" ]; then
  OUT=$CHECKPOINTS/$RECIPE run=1
  while [ -e "$OUT/ended" ]; do run=$((run + 1)); OUT=$CHECKPOINTS/$RECIPE-$run; done
  mkdir -p "$OUT"
  before=$(cat "$OUT/seconds" 2> /dev/null || echo 0)
  ! [ -e "$OUT/{checkpoint}" ] || RESUME="--resume $OUT/{checkpoint}"
  (while sleep 60; do echo $((before + SECONDS)) > "$OUT/seconds"; done) > /dev/null 2>&1 &
  keeping=$!
fi
"""
"""A run that is started again goes on where its last checkpoint was written, and counts the time that it took before. One that
ended by itself is over: the next has a folder of its own."""
ENDED = """\
if [ -n "${reached:-}" ] || [ $status -eq 0 ] || [ $status -eq 124 ]; then touch "$OUT/ended"; fi
"""
UNTIL_REACHED = """\
while read -r top1; do
  if awk -v top1="$top1" -v target="$TARGET" 'BEGIN {{ exit !({share} >= target) }}'; then
    reached=$top1
    kill $training 2> /dev/null || true  # it may have just ended by itself
    break
  fi
done < <(tail --pid=$training -n +1 -F training.log 2> /dev/null | stdbuf -oL tr '\\r' '\\n' | sed -un {accuracy})
"""

PROGRAM = "train_language_model.txt"
LANGUAGE_SCRIPT = """\
set -euo pipefail
{nodes}
pip install --quiet "torch>=2.5" "transformers>=5,<6" "peft>=0.17" "datasets>=3" "accelerate>=1.2"{four_bits}
cat > train.py << 'END_OF_PROGRAM'
{program}END_OF_PROGRAM
mkdir -p "$OUT"
timeout --kill-after=60 "$LIMIT_SECONDS" torchrun --nnodes="$NODES" --node_rank="$NODE_RANK" --master_addr="$MASTER_ADDR" \\
  --master_port=29500 --nproc_per_node="$GPUS" train.py
"""
"""That of a language model by tokens, on transformers and peft, which are installed when it starts."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one accelerator takes of a recipe's batch, how many steps are gathered, and the learning rate that fits."""

    batch: int
    steps_gathered: int
    learning_rate: float | None


def share(line: CommandLine, global_batch: int, accelerators: int) -> Share:
    """How a recipe's batch is spread over so many accelerators."""
    whole = max(1, global_batch // accelerators)
    batch = min(whole, line.largest_batch)
    steps = -(-whole // batch) if line.accumulates else 1
    rate = line.learning_rate
    scaled = rate * (batch * steps * accelerators) / global_batch if rate else None
    return Share(batch, steps, scaled)


def launch_script(start: Start, line: CommandLine, launcher: str, *, stops_at_target: bool) -> str:
    """The script of a recipe's code; it stops when the log shows the target, where the log tells."""
    share = f"1 - top1 / {start.full}" if start.errors else f"top1 / {start.full}"
    watched = UNTIL_REACHED.format(share=share, accuracy=_quoted(start.accuracy)) if start.accuracy else ""
    return SCRIPT.format(
        nodes=NODES[launcher],
        repository=start.repository,
        commit=start.commit,
        folder=start.folder,
        kept=KEPT.format(checkpoint=start.checkpoint) if start.checkpoint else "",
        ended=ENDED if start.checkpoint else "",
        install=f"{start.install.strip()}\n" if start.install else "",
        train="\n".join(f"  {each}" for each in line.train.strip().splitlines()),
        target=watched if stops_at_target else "",
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def language_script(query: EstimateQuery, launcher: str) -> str:
    """The script; what it reads from its environment is in `language_environment`."""
    program = (files(__package__) / "data" / PROGRAM).read_text("utf-8")
    four_bits = ' "bitsandbytes>=0.45"' if query.method == "qlora" else ""
    return LANGUAGE_SCRIPT.format(nodes=NODES[launcher], program=program, four_bits=four_bits)


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
