//! M11 and M7 over the wire: raw bytes against real server processes.
//!
//! This test runs without the usual harness, because it is its own server: started with `SCRIPT` in its
//! environment it serves tools that sleep, ignore cancellation, panic and answer at length. The product needs
//! no hooks for that.

/// Names a module's tests.
macro_rules! tests {
    ($module:ident: $($(#[$condition:meta])? $test:ident,)*) => {
        &[$($(#[$condition])? (
            concat!(stringify!($module), "::", stringify!($test)),
            crate::$module::$test as fn(),
        ),)*]
    };
}

#[path = "support/scripted.rs"]
mod scripted;
#[path = "support/stdio.rs"]
mod stdio;

#[path = "stdio/calls.rs"]
mod calls;
#[path = "stdio/client.rs"]
mod client;
#[path = "stdio/framing.rs"]
mod framing;
#[path = "stdio/lifecycle.rs"]
mod lifecycle;
#[path = "stdio/stopping.rs"]
mod stopping;

use std::panic::catch_unwind;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::thread;

/// Turns this program into the scripted server.
const SCRIPT: &str = "MZARENA_TEST_SCRIPT";

/// A test and its name.
type Test = (&'static str, fn());

fn all_tests() -> Vec<Test> {
    [framing::TESTS, lifecycle::TESTS, calls::TESTS, stopping::TESTS, client::TESTS].concat()
}

/// The command that starts the scripted server.
fn scripted_server() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(SCRIPT, "1").env_remove("MZARENA_LOG");
    command
}

/// The command that starts the product.
fn product() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    command.arg("serve").env_remove("MZARENA_LOG");
    command
}

fn main() -> ExitCode {
    if std::env::var_os(SCRIPT).is_some() {
        return mzarena::mcp::serve_stdio(scripted::Scripted);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(*filter));
    let wanted: Vec<Test> = all_tests().into_iter().filter(|(name, _)| is_wanted(name)).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        wanted.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    run(wanted)
}

/// Runs tests on as many threads as there are processors. They mostly wait, so never on fewer than four.
fn run(wanted: Vec<Test>) -> ExitCode {
    let threads = thread::available_parallelism().map_or(4, |count| count.get().max(4));
    let failed = Mutex::new(Vec::new());
    let count = wanted.len();
    let queue = Mutex::new(wanted.into_iter());
    println!("\nrunning {count} tests");
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, test)) = { queue.lock().unwrap().next() } {
                    let is_good = catch_unwind(test).is_ok();
                    println!("test {name} ... {}", if is_good { "ok" } else { "FAILED" });
                    if !is_good {
                        failed.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("\ntest result: {} passed; {} failed {failed:?}\n", count - failed.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
