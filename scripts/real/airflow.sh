#!/usr/bin/env bash
# Runs a real Apache Airflow, each component in a process of its own, so that a
# test can kill one of them.
#
#   airflow.sh get RELEASE [DAY]                 installs and caches a release
#   airflow.sh got RELEASE                       whether it is there
#   airflow.sh servers RELEASE                   names of its components
#   airflow.sh start RELEASE DIR URL SERVER…
#   airflow.sh migrate RELEASE DIR URL           makes its tables
#   airflow.sh stop DIR SERVER…                  asks them to end and waits
#   airflow.sh kill DIR SERVER…                  kill -9
#   airflow.sh crash DIR SERVER…                 kill -9, with all tasks that they began
#   airflow.sh alive DIR SERVER                  whether it runs
#   airflow.sh signal DIR SERVER NAME            sends it a signal
#   airflow.sh hold RELEASE DIR                  lets no further task begin, until a crash
#
# SERVER is one of those that `servers` names, or `console`: Airflow's command line
# on the socket DIR/console.socket, see airflow/console.py.
#
# DIR keeps logs, DAG files (DIR/dags) and modules (DIR/lib) of one installation. URL is the address
# of its database, with user and password.
#
# Nothing of Airflow is kept in this project. `get` installs it from PyPI into a
# virtual environment in FLOWMEND_REAL_CACHE (~/.cache/flowmend-real), with the
# Python that FLOWMEND_REAL_PYTHON names (python3; 3.10 to 3.12 suit all releases
# below), and with libraries as they were on DAY: newer ones may not fit.
set -euo pipefail

here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

# Days on which the libraries fit, for the releases that tests run.
day_of() {
    case $1 in
    2.11.2) echo 2026-04-15 ;;
    3.0.6) echo 2025-10-01 ;;
    3.3.2) echo 2026-10-15 ;;
    *) die "say on which day the libraries of $1 fit: some days after it came out" ;;
    esac
}

home_of() { echo "$cache/airflow-$1"; }

get() {
    local release=$1 day home
    home=$(home_of "$release")
    [[ ! -e $home/done ]] || return 0
    day=${2:-$(day_of "$release")}
    "${FLOWMEND_REAL_PYTHON:-python3}" -m venv --clear "$home"
    "$home/bin/pip" install --quiet uv
    "$home/bin/uv" pip install --python "$home/bin/python" --exclude-newer "$day" \
        "apache-airflow==$release" psycopg2-binary asyncpg
    touch -- "$home/done"
}

got() { [[ -e $(home_of "$1")/done ]]; }

# ---- running ----------------------------------------------------------------

servers() {
    case $1 in
    2.*) echo triggerer scheduler ;;
    *) echo api-server dag-processor triggerer scheduler ;;
    esac
}

# Airflow takes these before its configuration file; one NAME=VALUE a line.
settings() {
    local release=$1 dir=$2 url=$3 executor=LocalExecutor secret=flowmend-tests-flowmend-tests-flowmend-tests-flowmend-tests
    case $url in
    sqlite:*)
        url=sqlite:///${url#sqlite:}
        [[ $release != 2.* ]] || executor=SequentialExecutor
        ;;
    *) url=postgresql+psycopg2://${url#*://} ;;
    esac
    cat <<END
PATH=$(home_of "$release")/bin:$PATH
AIRFLOW_HOME=$dir
HOME=$dir
PYTHONPATH=$dir/lib
PYTHONWARNINGS=ignore
AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=$url
AIRFLOW__CORE__EXECUTOR=$executor
AIRFLOW__CORE__DAGS_FOLDER=$dir/dags
AIRFLOW__CORE__LOAD_EXAMPLES=False
AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION=False
AIRFLOW__CORE__PARALLELISM=4
AIRFLOW__CORE__FERNET_KEY=
AIRFLOW__CORE__EXECUTION_API_SERVER_URL=http://127.0.0.1:$base/execution/
AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS=True
AIRFLOW__API__HOST=127.0.0.1
AIRFLOW__API__PORT=$base
AIRFLOW__API__BASE_URL=http://127.0.0.1:$base
AIRFLOW__API__WORKERS=1
AIRFLOW__API__SECRET_KEY=$secret
AIRFLOW__API_AUTH__JWT_SECRET=$secret
AIRFLOW__WEBSERVER__SECRET_KEY=$secret
AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False
END
    # DAG files are seen soon, and so are files that are gone.
    cat <<END
AIRFLOW__SCHEDULER__DAG_DIR_LIST_INTERVAL=5
AIRFLOW__SCHEDULER__MIN_FILE_PROCESS_INTERVAL=5
AIRFLOW__SCHEDULER__PARSING_CLEANUP_INTERVAL=5
AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL=5
AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL=5
END
    # All that heals comes soon, so that tests see what it heals: after half a
    # minute, not five, without a heartbeat. On a busy machine less is too little:
    # schedulers then take each other, and their own tasks, for dead.
    cat <<END
AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD=20
AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL=10
AIRFLOW__SCHEDULER__SCHEDULER_ZOMBIE_TASK_THRESHOLD=30
AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT=30
AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD=20
END
}

# The line of the log that says that SERVER is up.
ready() {
    case $1 in
    console) echo 'Console is up' ;;
    api-server) echo 'Application startup complete' ;;
    dag-processor) echo 'Processing files using up to\|Checking for new files\|DAG File Processing Stats' ;;
    triggerer) echo 'triggers currently running\|Starting the triggerer' ;;
    scheduler) echo 'Adopting or resetting orphaned tasks\|Resetting orphaned tasks' ;;
    esac
}

start() {
    local release=$1 dir=$2 url=$3 server arguments starts=()
    got "$release" || die "no $(home_of "$release"): run 'get $release' first"
    shift 3
    # All at once: each takes seconds to load. But a scheduler that finds no API
    # server lets tasks fail.
    for server in "$@"; do
        arguments=(airflow "$server")
        case $server in
        console) rm -f -- "$dir/console.socket" && arguments=(python "$here/airflow/console.py" "$dir/console.socket") ;;
        scheduler | triggerer) arguments+=(--skip-serve-logs) ;;
        esac
        (real_with real_launch "$dir" "$server" "$(ready "$server")" "${arguments[@]}") \
            < <(settings "$release" "$dir" "$url") &
        if [[ $server == api-server ]]; then wait $!; else starts+=($!); fi
    done
    for server in "${starts[@]}"; do wait "$server"; done
}

migrate() {
    real_with airflow db migrate < <(settings "$1" "$2" "$3")
}

# Tasks of 3.x begin by asking the API server; before, workers of the scheduler
# that run nothing yet take them.
hold() {
    local pid pids=()
    [[ $1 == 2.* ]] || { real_command signal "$2" api-server STOP && return; }
    for pid in $(real_family "$2" scheduler); do
        ! grep -qa 'worker -- LocalExecutor' "/proc/$pid/cmdline" || pids+=("$pid")
    done
    [[ ${#pids[@]} -eq 0 ]] || kill -s STOP "${pids[@]}"
}

command=${1:-}
[[ $# -gt 0 ]] || usage
shift
case $command:$# in
get:[12]) get "$@" ;;
got:1) got "$1" ;;
servers:1) servers "$1" ;;
migrate:3 | start:[4-9]) "$command" "$1" "$(realpath -m -- "$2")" "${@:3}" ;;
hold:2) hold "$1" "$(realpath -m -- "$2")" ;;
stop:[2-9] | kill:[2-9] | crash:[2-9] | alive:2 | signal:3) real_command "$command" "$@" ;;
*) usage ;;
esac
