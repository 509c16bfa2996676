"""Files of tests as suites of cases: what each asserts, how strongly, on which rows, and whether it runs."""
