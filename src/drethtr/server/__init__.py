"""Reads handwriting over HTTP: for programs (`drethtr serve`), and for the editor (`drethtr edit`).

app.py                      the application: routes, and what every request passes through
guard.py, ticket.py         who may do what; how a browser gets its token
connections.py, uploads.py  slow clients and large bodies have limits
request_queue.py            lines of several requests are read together
service.py                  the handlers for reading and searching
editor/                     the handlers of the editor, for a folder of `drethtr.editing`; values.py parses, content.py
                            writes
answers.py, metrics.py      errors as JSON; counts for Prometheus
description.py              what `GET /openapi.json` says
"""
