//! Bytes to feed and entries; autodiscovery of feeds in a page. Pure.
