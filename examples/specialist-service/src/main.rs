//! The program `specialist-service`; all of it is in the library, so that others can be it, too.

fn main() -> anyhow::Result<()> {
    specialist_service::program::main_from(std::env::args_os())
}
