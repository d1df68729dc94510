//! A family of algorithms behind one trait: a closed enum of states, so that a run is plain data, and a kind that
//! names each member.
//!
//! A new member takes one new file and two lines next to the list of its family: `mod` and the entry. (Two, because
//! the formatter finds files by their `mod` lines and does not look into macros.) It has a constructor `new(setup)`
//! and a constant `FACTS` with what the rest of the program needs to know about it, including a description in words.

/// Defines the kind and the state of a family from the list of its members.
macro_rules! family {
    (
        $(#[$kind_doc:meta])* kind $Kind:ident, default $default:ident;
        $(#[$state_doc:meta])* state $State:ident: $Trait:ident, from $Setup:ty, facts $Facts:ty;
        $( $(#[doc = $about:literal])+ $file:ident::$Member:ident, )+
    ) => {
        $( #[allow(unreachable_pub)] pub use $file::$Member; )+

        $(#[$kind_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $Kind { $( $(#[doc = $about])+ $Member, )+ }

        impl Default for $Kind {
            fn default() -> Self {
                $Kind::$default
            }
        }

        impl $Kind {
            /// Every member of the family.
            pub const ALL: &'static [$Kind] = &[$( $Kind::$Member ),+];

            /// What it is, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $( $Kind::$Member => concat!($($about),+).trim_start(), )+ }
            }

            /// Every member by its name in the settings, with a description.
            pub(crate) fn described() -> Vec<(String, &'static str)> {
                let names = $crate::settings::words($Kind::ALL).words();
                names.into_iter().zip($Kind::ALL.iter().map(|kind| kind.about())).collect()
            }

            /// What the rest of the program needs to know about it.
            pub fn facts(self) -> $Facts {
                match self { $( $Kind::$Member => $Member::FACTS, )+ }
            }
        }

        $(#[$state_doc])*
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $State { $( $(#[doc = $about])+ $Member(Box<$Member>), )+ }

        impl $State {
            /// The member of this kind, at the start of a run.
            pub fn new(kind: $Kind, setup: $Setup) -> Self {
                match kind { $( $Kind::$Member => $State::$Member(Box::new($Member::new(setup))), )+ }
            }
        }

        impl ::std::ops::Deref for $State {
            type Target = dyn $Trait;

            fn deref(&self) -> &Self::Target {
                match self { $( $State::$Member(member) => &**member, )+ }
            }
        }

        impl ::std::ops::DerefMut for $State {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self { $( $State::$Member(member) => &mut **member, )+ }
            }
        }
    };
}

pub(crate) use family;
