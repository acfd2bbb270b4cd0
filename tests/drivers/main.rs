//! Both drivers, on real sockets, pipes and processes: what they must do alike.

mod client;
mod http;
mod local;
mod narrow_pipe;
mod process;
mod stdio;

/// Runs each scenario, a function of one driver's server program, on both drivers.
macro_rules! on_both_drivers {
    ($($scenario:ident)*) => {
        mod tokio {
            $(#[test] fn $scenario() { super::$scenario(env!("CARGO_BIN_EXE_server-tokio")); })*
        }
        mod async_std {
            $(#[test] fn $scenario() { super::$scenario(env!("CARGO_BIN_EXE_server-async-std")); })*
        }
    };
}
pub(crate) use on_both_drivers;
