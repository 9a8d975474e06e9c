"""Pictures of answers: Vega-Lite specifications, which the page shows and PNG and SVG are drawn from, and the page's own plot."""
