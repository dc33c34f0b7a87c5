# What the launchers of real schedulers share: servers as processes of their own,
# so that a test can kill one of them. To be sourced.
#
# A server has a folder DIR/SERVER with `work`, where it runs, `log`, `log.old`
# (of the lives before), `pid` and `since`, the start of that process.
# shellcheck shell=bash

# Where releases are kept, and the first port that servers listen on.
# shellcheck disable=SC2034  # for who sources this
cache=${FLOWMEND_REAL_CACHE:-$HOME/.cache/flowmend-real} base=${FLOWMEND_REAL_PORT:-15600}

die() { printf '%s: %s\n' "${0##*/}" "$*" >&2 && exit 1; }

# Shows the first comment of the launcher.
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }

# Runs a command with settings, read as lines NAME=VALUE, in its environment.
real_with() {
    local line
    while read -r line; do export "${line?}"; done
    "$@"
}

# When process PID began, in the kernel's ticks; nothing if it has ended.
real_since() {
    local fields
    [[ -n $1 ]] || return 0
    fields=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
    [[ $fields == Z* ]] || cut -d ' ' -f 20 <<<"$fields"
}

# True while SERVER in DIR runs. Its number alone may be another process's by now.
real_alive() {
    local since
    since=$(real_since "$(cat -- "$1/$2/pid" 2>/dev/null)")
    [[ -n $since && $since == "$(cat -- "$1/$2/since")" ]]
}

# Runs COMMAND… as SERVER and waits until its log has a line with READY.
real_launch() {
    local dir=$1 server=$2 ready=$3 try
    shift 3
    ! real_alive "$dir" "$server" || die "$server runs already"
    mkdir -p -- "$dir/$server/work"
    # The log of the life before is kept.
    [[ ! -e $dir/$server/log ]] || cat -- "$dir/$server/log" >>"$dir/$server/log.old"
    (cd -- "$dir/$server/work" && exec setsid "$@") >"$dir/$server/log" 2>&1 </dev/null &
    echo $! >"$dir/$server/pid"
    real_since $! >"$dir/$server/since"
    for ((try = 0; try < 600; try++)); do
        grep -qa -- "$ready" "$dir/$server/log" && return 0
        ((try < 30)) || real_alive "$dir" "$server" || break
        sleep 0.2
    done
    tail -n 40 -- "$dir/$server/log" >&2
    die "$server did not start"
}

# The processes that work for SERVER: itself, and whatever came of it.
real_family() {
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1/$2/work" 2>/dev/null | cut -d / -f 3
}

# kill -9 of servers with all that came of them. They are stopped first, so that
# none can see another die and write that down.
real_crash() {
    local dir=$1 server name pids
    shift
    for name in STOP STOP KILL; do
        for server in "$@"; do
            mapfile -t pids < <(real_family "$dir" "$server")
            [[ ${#pids[@]} -eq 0 ]] || kill -s "$name" "${pids[@]}" 2>/dev/null || :
        done
    done
    real_end KILL "$dir" "$@"
}

# Sends a signal that ends servers, and waits until they have ended.
real_end() {
    local name=$1 dir=$2 server try
    shift 2
    for server in "$@"; do
        ! real_alive "$dir" "$server" || kill -s "$name" "$(cat -- "$dir/$server/pid")"
    done
    for server in "$@"; do
        for ((try = 0; try < 150; try++)); do
            real_alive "$dir" "$server" || break
            sleep 0.2
        done
        ! real_alive "$dir" "$server" || kill -s KILL "$(cat -- "$dir/$server/pid")"
    done
}

# The commands that every launcher has: stop, kill and crash of servers; alive
# and signal (with its NAME) of one.
real_command() {
    local command=$1 dir
    dir=$(realpath -m -- "$2")
    shift 2
    case $command in
    stop) real_end TERM "$dir" "$@" ;;
    kill) real_end KILL "$dir" "$@" ;;
    crash) real_crash "$dir" "$@" ;;
    alive) real_alive "$dir" "$1" ;;
    signal) kill -s "$2" "$(cat -- "$dir/$1/pid")" ;;
    esac
}
