//! The contract through the tools, as a program in the same process calls them: what they take (M7), what they answer
//! (M6, M8), which files they reach (M3), what references do (S7–S9) and what becomes of the data (D1–D3).

#[path = "support/desk.rs"]
mod desk;
#[path = "support/paper.rs"]
mod paper;
#[path = "support/shared.rs"]
mod shared;

#[path = "tools/answers.rs"]
mod answers;
#[path = "tools/arguments.rs"]
mod arguments;
#[path = "tools/data.rs"]
mod data;
#[path = "tools/references.rs"]
mod references;
#[path = "tools/sources.rs"]
mod sources;
