//! Enums with a word or sentence for each variant.

/// Declares an enum with `ALL`, its variants in this order, and `as_str`, which returns a variant's word or sentence.
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

            /// Returns the variant's word or sentence.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}
