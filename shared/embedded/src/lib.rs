//! SQLite and folder adapters for one process.
