//! Prints the digest of a value with maps and floats in it, as a process of its own.
//!
//! It must never do more: a thousand of it are started.

fn main() {
    println!("{}", mainstay_tests::values::Everything::sample().digest());
}
