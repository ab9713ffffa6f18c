"""The article of a page of HTML."""

from ._native import extract

__all__ = ["extract"]
