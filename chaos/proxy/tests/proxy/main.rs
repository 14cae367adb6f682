//! The proxy between real sockets on the loopback. It must never wait for time to pass, except
//! where a fault's own time is what is looked at.

mod carried;
mod faults;
mod lives;
mod support;
