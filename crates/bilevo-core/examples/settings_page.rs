//! Prints the guide's page of settings; `cargo xtask generate` puts it in its place.
#![allow(clippy::print_stdout)]

fn main() {
    print!("{}", bilevo_core::settings::page());
}
