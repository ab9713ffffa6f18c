//! The store on SQLite and a folder, from outside.

mod backup;
mod processes;
mod store;
