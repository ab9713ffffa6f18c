//! The store on SQLite and a folder, from outside.

mod processes;
mod store;
