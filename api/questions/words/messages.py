"""What spans of several kinds are answered with; `data/spans.csv` has those of one kind."""

OFTEN = "for how often, ask costcalc commitments with --runs-per-month"
BUDGET = (
    "a limit is for this one run, as in under $50; how often you run it is for costcalc commitments --runs-per-month"
)
TOOK = (
    "hours taken are no limit; what they cost, and what such a training takes elsewhere, is answered of a machine and without a "
    "network: 3 days on 8 A100-80GB; for a limit write within {span}"
)
TOOK_LONG = TOOK.format(span="3 days")
LENGTH = "the length of sequences is that of each task"
MINUTES = "minutes or millions? Write 30 minutes, or what there are a million of"
DEARER = "higher rates cannot be asked for: every cost would rise alike"
RATE = "limits are for the whole run, not for a rate; write under $50"
