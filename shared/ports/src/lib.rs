//! What the stages need of the world: narrow traits, their errors, the compare-and-swap helper.
