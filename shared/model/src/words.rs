//! Enums whose variants have words.

/// Declares an enum, all its variants in this order (`ALL`), and the word of each (`as_str`).
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];

            /// Returns the variant's word, by which summaries and lists name it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}
