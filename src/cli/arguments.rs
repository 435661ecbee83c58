//! The arguments, and the help that teaches them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::access::{AccessError, RootSpec};
use crate::ingest::DigestKind;

const EXAMPLES: &str = "\
Examples:
  mzarena inspect run.mzML          what is in a file, for people
  mzarena inspect --json run.mzML   the same for programs
  mzarena demo                      watch an agent's session, on a made-up run
  mzarena serve --root /data/QC     serve a folder to an agent (started by its host)

Exit codes:
  0   done
  1   the server, the demonstration or the health check failed
  2   a source could not be read; standard error has the error as one line of JSON
  64  the arguments make no sense";

const SERVE: &str = "\
Examples:
  mzarena serve --root /data/QC
  mzarena serve --root qc=/data/QC --root blanks=/data/blanks

With one root, sources are named by their path below it: batch1/a.mzML. With several, the label
comes first: qc:batch1/a.mzML. Without a label, the folder's name is the label. A folder whose
name has an equals sign is written with a path before it: ./a=b.

An entry in the configuration of an MCP host:
  {\"mcpServers\": {\"mzarena\": {
    \"command\": \"mzarena\", \"args\": [\"serve\", \"--root\", \"/data/QC\"]}}}

Environment:
  MZARENA_ARENA_DIR              folder for arenas (else TMPDIR, else /var/tmp)
  MZARENA_MAX_REFERENCES         live references (10,000)
  MZARENA_MAX_TOTAL_BYTES        bytes of all arenas (64 GiB or 80 % of the free space)
  MZARENA_REFERENCE_TTL_SECONDS  seconds until an unused reference expires (3,600; 0 is never)
  MZARENA_MAX_SOURCE_BYTES       largest file that is opened (1 TiB)
  MZARENA_LOG                    what is logged to standard error (warn)

Exit codes:
  0   the client ended the session, or a signal asked for the end
  1   the server could not start, or broke down
  64  the arguments make no sense";

const INSPECT: &str = "\
Examples:
  mzarena inspect run.mzML
  mzarena inspect --tolerant damaged.mzML.gz
  mzarena inspect --json --digest sha256 run.mzML | jq .digest

The format (mzML or MGF, also gzipped) is recognised by content, never by the file's name. The
whole file is read; counts, ranges and sums are computed from its points, not taken from its own
totals. A blank in the drawn TIC is a time without a spectrum.

Exit codes:
  0   read; with --tolerant, \"complete\" says whether anything is missing
  1   the answer could not be written
  2   not read; standard error has {\"error\":{\"code\",\"message\",\"hint\",\"file\"}} as one line
      of JSON (plain words where it is a terminal and --json is not given)
  64  the arguments make no sense";

const DEMO: &str = "\
Examples:
  mzarena demo
  mzarena demo run.mzML

The server is a process of its own and is spoken to over its standard input and output, as by an
agent's host: list the sources, load a run, describe it, look at a spectrum, release the run. Each
request and each answer is shown, with its size; memory and disk are measured before the load,
after it and after the release. Without a file, one is made in the arena folder and removed at the
end.

Exit codes:
  0   the session went as it should
  1   it did not, or the server failed
  2   the file could not be read; standard error has the error as one line of JSON
  64  the arguments make no sense";

const HEALTHCHECK: &str = "\
Examples:
  mzarena healthcheck
  mzarena healthcheck --root qc=/data/QC     check a configuration as well

Asks a real server process to initialize and to list its tools, then ends it. No source is listed
or opened.

Exit codes:
  0   healthy
  1   not healthy; standard error says what is wrong
  64  the arguments make no sense";

/// Mass spectra for agents: an immutable, memory-mapped store with a read-only MCP server over it.
///
/// A run has far more peaks than fit in a conversation. mzarena keeps them in a private memory-mapped file and answers
/// about them by reference.
#[derive(Debug, Parser)]
#[command(name = "mzarena", version, after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Serve(ServeArguments),
    Inspect(InspectArguments),
    Demo(DemoArguments),
    Healthcheck(HealthcheckArguments),
}

/// Serve runs to an agent: MCP over standard input and output
///
/// Only files below the roots can be named, listed and read; nothing of theirs is ever written.
#[derive(Debug, Args)]
#[command(after_help = SERVE)]
pub(super) struct ServeArguments {
    /// Folder with sources, and the label that names it; may be given several times. None means the current folder,
    /// unless that is the root of the file system
    #[arg(long, value_name = "[LABEL=]DIR", value_parser = OsStringValueParser::new().try_map(root))]
    pub(super) root: Vec<RootSpec>,
}

/// Say what is in a file: counts, ranges, the shape of its signal, and what is odd about it
#[derive(Debug, Args)]
#[command(after_help = INSPECT)]
pub(super) struct InspectArguments {
    /// The mzML or MGF file, gzipped or not
    pub(super) file: PathBuf,
    /// One JSON object instead of text for people
    #[arg(long)]
    pub(super) json: bool,
    /// Keep what is sound of a damaged file, and say what is missing
    #[arg(long)]
    pub(super) tolerant: bool,
    /// Digest of the file's bytes
    #[arg(long, value_enum, default_value_t = Digest::Blake3)]
    pub(super) digest: Digest,
}

/// Play an agent's session against a real server, and show what crosses the protocol
#[derive(Debug, Args)]
#[command(after_help = DEMO)]
pub(super) struct DemoArguments {
    /// The file to load; none means a run made by the built-in generator
    pub(super) file: Option<PathBuf>,
}

/// Check that a server starts, answers and ends
#[derive(Debug, Args)]
#[command(after_help = HEALTHCHECK)]
pub(super) struct HealthcheckArguments {
    /// Root to start the server with, as for `serve`; none means one that is there anyway, the arena folder
    #[arg(long, value_name = "[LABEL=]DIR")]
    pub(super) root: Vec<OsString>,
}

/// Digests by the names that the command line knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Digest {
    /// Fast everywhere
    Blake3,
    /// What repositories publish
    Sha256,
}

impl From<Digest> for DigestKind {
    fn from(digest: Digest) -> Self {
        match digest {
            Digest::Blake3 => Self::Blake3,
            Digest::Sha256 => Self::Sha256,
        }
    }
}

/// A root may have any name that a folder can have; a label needs text around it.
fn root(text: OsString) -> Result<RootSpec, AccessError> {
    match text.to_str() {
        Some(text) => RootSpec::parse(text),
        None => Ok(RootSpec { label: None, folder: PathBuf::from(text) }),
    }
}
