//! A bundled web of small sites on loopback, with a log of every call.
