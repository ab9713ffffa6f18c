"""Extracts the article of an HTML page."""

from ._native import extract

__all__ = ["extract"]
