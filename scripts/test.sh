#!/usr/bin/env bash
# Runs all tests with real database servers and ends with one line of counts.
#
#   scripts/test.sh [--long] [--real] [-- CARGO TEST ARGUMENTS…]
#     --long  also the tests that take minutes (FLOWMEND_TEST_LONG=1)
#     --real  also the tests that run real schedulers (FLOWMEND_TEST_REAL=1);
#             `scripts/real/SCHEDULER.sh get RELEASE` first
set -euo pipefail

root=$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")

all=("$@")
while [[ $# -gt 0 ]]; do
    case $1 in
    --long) export FLOWMEND_TEST_LONG=1 ;;
    --real) export FLOWMEND_TEST_REAL=1 ;;
    --) shift && break ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
    esac
    shift
done

# Schedulers listen on the machine's outer address and name themselves by it. In
# a network of its own there is only 127.0.0.1, and nobody else can come in.
if [[ -n ${FLOWMEND_TEST_REAL:-} && -z ${FLOWMEND_TEST_INSIDE:-} ]] && unshare --net ip link set lo up 2>/dev/null; then
    cargo fetch --locked --manifest-path "$root/Cargo.toml"
    export FLOWMEND_TEST_INSIDE=1
    # shellcheck disable=SC2016  # expands inside
    exec unshare --net bash -c 'ip link set lo up && exec "$@"' inside "$root/scripts/test.sh" "${all[@]}"
fi

# shellcheck source-path=SCRIPTDIR source=servers.sh
. "$root/scripts/servers.sh"

output=$(mktemp)
FLOWMEND_TEST_SKIPS=$(mktemp)
export FLOWMEND_TEST_SKIPS
trap 'servers_stop; rm -f -- "$output" "$FLOWMEND_TEST_SKIPS"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
servers_start || exit 1

# Most tests wait most of the time: for a server, or for a heartbeat that may move.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((3 * $(nproc)))}

# One failing test program must not hide the others' results.
status=0
cd -- "$root"
cargo test --locked --workspace --no-fail-fast "$@" | tee "$output" || status=$?

# Tests that cannot run here pass, but say so in this file.
grep '^SKIPPED ' "$FLOWMEND_TEST_SKIPS" || :
skipped=$(grep -c '^SKIPPED ' "$FLOWMEND_TEST_SKIPS" || :)
awk -v skipped="$skipped" '
    /^test result:/ {
        for (i = 2; i <= NF; i++) {
            if ($i == "passed;") passed += $(i - 1)
            if ($i == "failed;") failed += $(i - 1)
            # Tests that wait for something say why in their #[ignore].
            if ($i == "ignored;") skipped += $(i - 1)
        }
    }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
' "$output"
exit "$status"
