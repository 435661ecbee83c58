//! The program: reads its arguments, serves or runs a command, and says by its exit code how it went.

use std::io;
use std::process::ExitCode;

use mzarena::cli::{Console, Next, ServeOptions};
use mzarena::tools::{Context, ContextOptions};
use mzarena::{cli, mcp};

fn main() -> ExitCode {
    // not locked, since the server writes to standard output from a thread of its own
    let (mut out, mut err) = (io::stdout(), io::stderr());
    match cli::run(std::env::args_os(), &mut Console::standard(&mut out, &mut err)) {
        Next::Exit(code) => ExitCode::from(code),
        Next::Serve(ServeOptions { store, roots }) => {
            mcp::serve_stdio(Context::new(ContextOptions { store, roots }))
        }
    }
}
