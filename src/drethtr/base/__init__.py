"""The foundation of all other packages: files that survive, untrusted input, configuration, errors.

errors.py                                  what went wrong, where, and the cure
config.py                                  frozen dataclasses from TOML and back; variants by their names
files.py, locks.py, links.py               write whole files, take turns, stay inside folders from others
sandbox.py, archive.py, database.py        decoders in a child process with limits; untrusted ZIP and SQLite files
web.py, urls.py, cache.py, credentials.py  downloads, addresses of every kind, and what messages must not show
native.py                                  the compiled inner loops, if they were built
processors.py, recent.py                   how many threads; results that several threads share
plugins.py, lazy.py, version.py            entry points; lazy imports
encoding.py, wording.py                    encodings of users' text files; wording of numbers and lists
arrays.py                                  type aliases of numpy arrays by their contents
"""
