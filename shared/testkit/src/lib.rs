//! Conformance suites, in-memory fakes, fault wrappers and the deterministic simulator.
