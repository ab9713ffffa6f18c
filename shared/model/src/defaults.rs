//! Structs whose fields state their first values.

/// Declares a struct and its constructor, such as `new`, which follows the struct. A field without `= value` is a
/// parameter of the constructor; a value may use the parameters. If no constructor follows, each field has a value, and
/// the struct implements `Default`.
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* $vis:vis $field:ident: $kind:ty $(= $value:expr)?,)+ }

        $(#[$about:meta])*
        $new:ident($($given:ident: $type:ty),*)
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* $vis $field: $kind,)+
        }

        impl $name {
            $(#[$about])*
            pub fn $new($($given: $type),*) -> $name {
                $name { $($field: $crate::with_defaults!(@ $field $($value)?),)+ }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* $vis:vis $field:ident: $kind:ty = $value:expr,)+ }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* $vis $field: $kind,)+
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $value,)+ }
            }
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}
