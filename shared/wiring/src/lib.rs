//! Settings, and the stages put together over any store.
