//! Page directives: robots meta tags and X-Robots-Tag.
