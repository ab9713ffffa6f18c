//! Content screening by weighted word lists. Pure.
