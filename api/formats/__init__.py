"""An answer as a file: CSV, FOCUS, workbooks, charts."""
