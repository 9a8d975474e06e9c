"""`/estimate` as a page: how one figure comes about, term by term, so that a reader can redo it by hand."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import render_template, request

from api.formats.source_links import parts
from api.questions.links import narrowed, to_url
from api.questions.schemas.layout import Layout
from api.reports.cost import EstimateReport
from api.service import with_moment
from api.web.pages.address import Address
from api.web.pages.taking import taking
from api.web.responses import arguments
from costcalc.answers import Estimate
from costcalc.training import Metric

OF_OVERHEAD = ("Overhead", "Staging", "Spot: ")


def estimate_page(report: EstimateReport, _: Layout) -> bytes:
    """The page of a report."""
    query, estimate = report.query, report.estimate
    own = narrowed(query, estimate) if estimate else query
    return render_template(
        "estimate.html",
        answer=report.answer,
        each=estimate,
        recipe=report.recipe,
        measured=tuple(Metric) if isinstance(query.metric, Metric) else (query.metric,),
        images=report.images_per_epoch,
        sources=parts,
        overhead=[line for line in estimate.assumptions if line.startswith(OF_OVERHEAD)] if estimate else [],
        back=Address("/", arguments())(limit=None),
        permanent=to_url(with_moment(own, report.answer.prices.as_of), f"{request.script_root}/estimate"),
        curve=to_url(own, f"{request.script_root}/estimate"),
        taken=taking(query, estimate) if estimate else None,
        rates=_rates(estimate) if estimate else "",
        beside=_beside_machine(report, estimate) if estimate else "",
    ).encode()


def _rates(each: Estimate) -> str:
    """What asks for the history of an estimate's rate."""
    asked = {"instance_type": each.instance_type, "provider": each.provider, "region": each.region}
    return f"?{urlencode(asked)}"


def _beside_machine(report: EstimateReport, each: Estimate) -> str:
    """What asks for the ways to commit to an estimate's machine."""
    query = report.query
    asked = {
        "model": query.model,
        "target": f"{query.target:g}",
        "provider": each.provider,
        "instance_type": each.instance_type,
    }
    return f"?{urlencode(asked)}"
