//! The stages: gather facts through ports, ask a pure function, apply the answer.
