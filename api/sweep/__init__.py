"""`costcalc sweep`: many questions at once, answered on all cores or on Dask, as Parquet."""
