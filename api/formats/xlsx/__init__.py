"""The workbooks: sheets whose figures follow changed rates, hours and discounts, in whatever order their rows stand."""
