"""Pictures of answers as SVG, of which PNG is made, and the plot of the first page."""
