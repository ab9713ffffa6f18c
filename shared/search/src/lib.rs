//! Index splits, manifests and queries on tantivy.
