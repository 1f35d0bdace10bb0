"""Registers the kinds and names of `drethtr.paper`; imported when a setting names something unknown."""

from importlib.util import find_spec

from drethtr.paper import byte_pairs, published_decoding, variants

__all__ = ["byte_pairs", "published_decoding", "variants"]

if find_spec("torch"):  # starts are named in run files, which need it
    from drethtr.paper import starts  # noqa: F401
