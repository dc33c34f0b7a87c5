//! Text that tries to leave its literal, its line or its client.

use proptest::prelude::*;

/// The texts.
pub const HOSTILE: &[&str] = &[
    "plain",
    "it's",
    "a \"run\"",
    "`x`",
    "a;b",
    "back\\slash",
    "end\\",
    "'; DROP TABLE x; --",
    "\\'; DROP TABLE x; -- ",
    "line\nbreak",
    "\r\n\\! rm -rf /",
    "\n.shell rm\n",
    "\n\\q\n",
    "{{ x }}",
    "{% raw %}",
    "{# x",
    "\nDELIMITER //\n",
    "/* open",
    "*/ -- close",
    "# hash",
    "$1 $$ $tag$",
    ":name ?",
    "%s LIKE '%_'",
    "\u{1f4a5}\u{1f1e9}\u{1f1ea}",
    "\u{202e}rtl\u{200f}\u{2066}",
    "\u{7}\u{1b}[31m\u{1}",
    "\t tab ",
    "\u{2028}\u{feff}\u{85}",
    "| pipe | `md` |\n# head",
    "",
];

/// A short text: every database of every release holds 45 characters.
pub fn hostile() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(HOSTILE);
    let two =
        (proptest::sample::select(HOSTILE), proptest::sample::select(HOSTILE)).prop_map(|(a, b)| format!("{a}{b}"));
    prop_oneof![4 => known.prop_map(ToOwned::to_owned), 1 => two, 1 => "\\PC{0,12}"]
}
