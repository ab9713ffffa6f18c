//! The search page, the API and the forms: one axum router.
