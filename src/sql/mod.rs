//! SQL text as the native clients read it: where statements begin and end, what
//! is a comment, what speaks to the client, and where in the file it stands. Pure.

mod place;
mod split;
mod words;

pub use place::{Place, Places};
pub use split::{Client, Piece, PieceKind, Script, split};
