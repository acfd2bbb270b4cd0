//! Both drivers, on real sockets, pipes and processes: what they must do alike.

mod client;
mod command_line;
mod cookies;
mod dying;
mod examples;
mod http;
mod in_process;
mod local;
#[cfg(target_os = "linux")]
mod memory;
mod mounted;
mod narrow_pipe;
mod over_reqwest;
mod process;
mod proxy;
mod redirects;
mod running;
mod signals;
mod stdio;
mod tls;

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

/// Runs each scenario, a function of a driver, for the clients of both.
macro_rules! for_both_clients {
    ($($scenario:ident)*) => {
        mod client_on_tokio {
            $(#[test] fn $scenario() { super::$scenario::<mcp_driver_tokio::Tokio>(); })*
        }
        mod client_on_async_std {
            $(#[test] fn $scenario() { super::$scenario::<mcp_driver_async_std::AsyncStd>(); })*
        }
    };
}
pub(crate) use for_both_clients;
