"""The register of questions: one row each. Paths, commands, assistants' tools, forms and the reference are made from it."""

from __future__ import annotations

from api import forms
from api.forms.question import Chart, Command, Question, Tool

EXAMPLE = {"model": "resnet50", "target": "0.757"}

QUESTIONS = (
    Question(
        "/cost",
        "Hours and cost of training to an accuracy, on everything that can be rented",
        lambda: forms.cost.CODE,
        Chart("Cost against time"),
        Command(
            "Estimate the hours and cost of training MODEL to TARGET.\n\nTARGET is a fraction, such as 0.757. The answer names "
            "what to rent first, then lists every machine that reaches it. Without TARGET, --epochs says how long to train.",
            ("model?", "target?"),
            explains=True,
        ),
        Tool(
            "Hours and dollars of training a model to an accuracy: a verdict, the picks, then estimates with ranges.",
            rows=5,
        ),
        errors=(404,),
        topic="What it costs",
    ),
    Question(
        "/ask",
        "A question in a sentence: how it is understood, and its answer",
        lambda: forms.ask.CODE,
        command=Command(
            'Answer a question in plain words.\n\nQ is for example "resnet50 to 76% on aws, no spot". The answer first says how '
            "it was understood, and which words were not.",
            ("q",),
            explains=True,
        ),
        tool=Tool("A question in a sentence, such as: resnet50 to 76% on aws, no spot."),
        topic="A question in a sentence",
        is_page=True,
    ),
    Question(
        "/estimate",
        "The first estimate of a question term by term, with the accuracy curve of its recipe",
        lambda: forms.estimate.CODE,
        Chart("The accuracy curve behind the first estimate of a question"),
        errors=(404,),
        topic="One estimate explained",
    ),
    Question(
        "/accuracy",
        "The highest accuracy that a budget or a time limit buys",
        lambda: forms.accuracy.CODE,
        Chart("The least cost of each accuracy", (720, 474)),
        Command(
            "Find the highest accuracy of MODEL that a budget buys.\n\nGive --budget, --max-hours or both; the answer lists the "
            "machines that reach that accuracy.",
            ("model",),
            explains=True,
        ),
        Tool("The highest accuracy of a model that a budget or a time limit allows, and where.", rows=3),
        errors=(404,),
        topic="The accuracy that a budget buys",
        example={"model": "resnet50", "purchase": "on_demand", "rates": "confirmed"},
    ),
    Question(
        "/commitments",
        "Reserved, committed and monthly offers compared with on demand",
        lambda: forms.commitments.CODE,
        Chart("What a month costs by hours of use, on the machine with the cheapest commitment"),
        Command(
            "Compare commitments with paying by the hour.\n\nFor the machines that suit training MODEL to TARGET, the answer "
            "gives the hours a month above which each commitment costs less.",
            ("model", "target?"),
            explains=True,
        ),
        Tool(
            "The hours a month above which reserving, committing or renting by the month costs less than on demand.",
            rows=2,
        ),
        errors=(404,),
        topic="Rent, commit or own",
        example={**EXAMPLE, "runs_per_month": "30"},
        drawn={"limit": 8},
    ),
    Question(
        "/trend",
        "What a training cost at past dates, and whether waiting paid",
        lambda: forms.trend.CODE,
        Chart("The least cost and the hours of a training over time", (720, 514)),
        command=Command(
            "Show what training MODEL to TARGET cost at past dates.\n\nFor each year it takes the cheapest machine that one "
            "could rent then, and says what made training cheaper and whether waiting ever paid.",
            ("model", "target?"),
        ),
        tool=Tool("What a training cost a year ago, two years ago and so on, and whether waiting ever paid.", rows=10),
        errors=(404,),
        topic="What it cost before",
        example=EXAMPLE,
    ),
    Question(
        "/mlperf",
        "What a task of MLPerf cost to train when each round was published, and what those machines cost today",
        lambda: forms.mlperf.CODE,
        chart=Chart("The least cost of a task at each round of MLPerf", (720, 514)),
        command=Command(
            "Show what a task of MLPerf cost at each round.\n\nMODEL is a task of costcalc tasks. Each round shows "
            "the least dollars and the least minutes on machines for rent then, and the record.",
            ("model", "target?"),
        ),
        errors=(404,),
        topic="What it cost before",
        example={"model": "bert-large"},
    ),
    Question(
        "/mlperf/all",
        "What every task of MLPerf cost to train at each round, at the packaged prices",
        lambda: forms.every_round.CODE,
        chart=Chart("The least cost of every task of MLPerf at each round", (860, 544)),
        topic="What it cost before",
        called="every_round",
    ),
    Question(
        "/compare",
        "Two machines for the same training: which costs less, and the rate at which that changes",
        lambda: forms.compare.CODE,
        command=Command(
            "Compare training MODEL to TARGET on two machines, A and B.\n\nWrite A and B as provider:instance_type, such as "
            "aws:p3.16xlarge; :2 means two machines, :spot a way to buy them, and own:1x RTX 4090 is a machine that you own. "
            "The answer says which costs less, how sure that is, and the rate of B at which that changes.",
            ("model", "target?", "a", "b"),
            explains=True,
        ),
        tool=Tool(
            "Two machines for the same training: price and speed ratios, the cheaper one with its probability, and the "
            "hourly rate at which the answer turns."
        ),
        errors=(404,),
        topic="Two machines compared",
        example={**EXAMPLE, "a": "aws:p5.4xlarge", "b": "aws:p4d.24xlarge"},
    ),
    Question(
        "/offers",
        "The price sheet, with source and date of every rate",
        lambda: forms.offers.CODE,
        command=Command("List the current rates of machines, with sources and dates.", ("accelerator?",), narrowed=3),
        tool=Tool("Current hourly rates of machines, each with its source and date.", rows=20),
        topic="Prices",
        example={"purchase": "on_demand", "rates": "confirmed"},
        drawn={"sort": "accelerator"},
    ),
    Question(
        "/offers/changes",
        "Rates that are new or different since a date",
        lambda: forms.changes.CODE,
        command=Command("List the rates that are new or different since a date."),
        tool=Tool("Rates that are new or different since a date.", rows=20, name="price_changes"),
        called="changes",
    ),
    Question(
        "/offers/history",
        "Every rate ever observed for a machine",
        lambda: forms.history.CODE,
        chart=Chart("The rates of machines over time"),
        command=Command("List every rate ever seen for INSTANCE_TYPE.", ("instance_type",)),
        tool=Tool("Every rate ever observed of a machine.", rows=20, name="price_history"),
        called="history",
    ),
    Question(
        "/throughput",
        "Measured speeds, also per dollar",
        lambda: forms.throughput.CODE,
        command=Command("List measured training speeds, also per dollar."),
        tool=Tool("Measured training speeds, also per dollar.", rows=20),
        errors=(404,),
        topic="Speeds",
        example={"model": "resnet50", "purchase": "on_demand", "rates": "confirmed", "speeds": "best"},
    ),
    Question(
        "/fit",
        "The largest batch of each network on each accelerator",
        lambda: forms.fit.CODE,
        command=Command(
            "Find the largest batch of MODEL that an accelerator holds.\n\nMODEL may be several, separated by commas. Batches "
            "that are modelled, not measured, have a range.",
            ("model?",),
        ),
        tool=Tool("The largest batch of a network that each accelerator holds.", rows=20),
        errors=(404,),
        topic="What fits in memory",
        example={
            "model": "resnet18,resnet50,resnet152,efficientnet_b0,efficientnet_b4,convnext_tiny,vit_b16,swin_tiny"
        },
    ),
    Question(
        "/small",
        "How long a network given by its layers trains on a processor and on GPUs",
        lambda: forms.small.CODE,
        command=Command(
            "Compare this machine with GPUs for a very small network.\n\nIt is so small that launches and transfer decide. MODEL "
            "gives its layers: those of a dense network, such as mlp:784-512-512-10, or of a convolutional one, such as "
            "cnn:28x28x1-32-64-10: height, width and channels, the channels of 3 x 3 convolutions, the classes.",
            ("model",),
        ),
        topic="Small networks",
        example={"model": "mlp:784-512-512-10"},
    ),
    Question(
        "/tasks",
        "Every task: its data set, metric and quality, and the results that its answers rest on",
        lambda: forms.tasks.CODE,
        command=Command("List the tasks besides ImageNet and their networks."),
        tool=Tool(
            "Tasks besides ImageNet that can be asked about (language models, detectors, ...), with their targets.",
            rows=25,
        ),
        topic="Models",
    ),
    Question(
        "/models",
        "Every model with a measurement",
        lambda: forms.models.CODE,
        command=Command("List the models, or all measurements of one MODEL.", ("model?",)),
        topic="Models",
    ),
    Question(
        "/models/{model}",
        "One model's recipes with their curves, and its measured throughputs",
        lambda: forms.models.MODEL,
        errors=(404,),
        called="model",
    ),
)
"""Every question that a query string asks. Sheets and logs that are sent have paths of their own: `/plan`, `/recipes`."""
