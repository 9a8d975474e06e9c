"""What each question's answer looks like, a file for each: its table or its columns, its text in a terminal, its sheets, its page
and its picture. The register says which of `terminal`, `csv`, `xlsx` and `html` a file has; lists are made from `TABLE`."""
