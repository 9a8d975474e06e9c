"""A question for each tool that an assistant has."""

QUESTIONS = {
    "cost": {"model": "resnet50", "target": 0.757},
    "ask": {"q": "resnet50 to 76% on aws, no spot"},
    "accuracy": {"model": "resnet50", "budget": 50},
    "commitments": {"model": "resnet50", "target": 0.757},
    "compare": {"model": "resnet50", "target": 0.757, "a": "aws:dl1.24xlarge", "b": "lambda:gpu_1x_gh200"},
    "tasks": {},
    "trend": {"model": "resnet50", "target": 0.757},
    "offers": {"provider": ["lambda"]},
    "price_history": {"instance_type": "p3.8xlarge"},
    "price_changes": {"since": "2026-06-01"},
    "throughput": {"model": "resnet50"},
    "fit": {"model": "resnet50"},
    "models": {},
    "recipes": {"model": "resnet18"},
    "own_runs": {},
    "doctor": {},
}
