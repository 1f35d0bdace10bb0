"""Bulk reading: millions of lines, split into parts that any worker can read, with atomic and resumable output.

inputs.py            Parquet files, folders and addresses, split into parts: ranges of their rows
job.py               a folder of results with its settings, and the parts that are missing
worker.py            reads a part and writes it; the base class of engines
local.py, on_ray.py  engines: processes on this machine, actors in a cluster
output.py            the folder of results, wherever it is
indexing.py          an index for search from results with posteriors
"""
