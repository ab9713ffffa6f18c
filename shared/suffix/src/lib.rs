//! The Public Suffix List: where a name ends that anybody may register below.
//!
//! The list is code that is generated and compiled wherever it is called, so it is called here and nowhere else.

/// The registrable part of a host name in A-labels: its public suffix and one label more. None if there is no such
/// label.
pub fn registrable(name: &str) -> Option<&str> {
    psl::domain_str(name)
}

/// True if a whole host name stands on the list, so that whatever is below it is somebody else's.
pub fn is_public(name: &str) -> bool {
    psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == name.as_bytes())
}
