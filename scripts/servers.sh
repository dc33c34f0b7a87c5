#!/usr/bin/env bash
# Throw-away servers for the tests: the databases PostgreSQL, MariaDB and, where
# one is given, MySQL, and the registries ZooKeeper and etcd. Each listens on
# free ports of 127.0.0.1 only and keeps everything in one temporary folder; the
# system's own servers, their data and their configuration are neither read nor
# touched.
#
#   scripts/servers.sh run -- COMMAND…   runs COMMAND with the servers up
#   scripts/servers.sh start FILE        leaves them up, writes the exports to FILE
#   scripts/servers.sh stop FILE         stops them and removes FILE
#   . scripts/servers.sh                 defines servers_start and servers_stop
#
# Exported: FLOWMEND_TEST_POSTGRES_URL, FLOWMEND_TEST_MARIADB_URL and, with a
# MySQL, FLOWMEND_TEST_MYSQL_URL and FLOWMEND_TEST_MYSQL_CLIENT (its `mysql`);
# FLOWMEND_TEST_ZOOKEEPER and FLOWMEND_TEST_ETCD (host:port), and
# FLOWMEND_TEST_ETCD_TLS with the authority of its certificate in FLOWMEND_TEST_CA.
#
# MySQL is started if one of these is set:
#   FLOWMEND_MYSQL_ROOT  a folder made by scripts/get-mysql.sh
#   FLOWMEND_MYSQLD      the path of a mysqld

servers_user=flowmend_admin
# In UTC every mistake with time zones would stay hidden.
servers_offset=+05:30
servers_zone=Asia/Kolkata
servers_zookeeper_jar=/usr/share/java/zookeeper.jar
servers_dir=

servers_say() { printf 'servers.sh: %s\n' "$*" >&2; }

# ---- what must be installed -------------------------------------------------

# Debian keeps PostgreSQL's server programs out of PATH. The newest one wins.
servers_pg_bin() {
    local postgres
    postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
    [[ -x $postgres ]] || postgres=$(readlink -f -- "$(command -v postgres)") || return 1
    [[ -x $postgres ]] && dirname -- "$postgres"
}

# /usr/sbin is not in every user's PATH.
servers_mariadbd() { PATH=$PATH:/usr/sbin command -v mariadbd; }

# A package would start its service at once; policy-rc.d is Debian's switch for that.
servers_apt_install() (
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" || exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } >&2
)

servers_install() {
    local missing=()
    servers_pg_bin >/dev/null && command -v psql >/dev/null || missing+=(postgresql)
    # The core packages have the programs without the system's service.
    servers_mariadbd >/dev/null || missing+=(mariadb-server-core)
    command -v mariadb >/dev/null || missing+=(mariadb-client-core)
    command -v sqlite3 >/dev/null || missing+=(sqlite3)
    # ZooKeeper without the package that would start it.
    [[ -e $servers_zookeeper_jar ]] || missing+=(libzookeeper-java)
    command -v java >/dev/null || missing+=(default-jre-headless)
    command -v etcd >/dev/null || missing+=(etcd-server)
    command -v openssl >/dev/null || missing+=(openssl)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $(id -u) -ne 0 ]]; then
        servers_say "missing; as root: apt-get install --no-install-recommends ${missing[*]}"
        return 1
    fi
    servers_say "installing ${missing[*]}"
    servers_apt_install "${missing[@]}"
}

# ---- processes --------------------------------------------------------------

# Makes the folder of the server NAME and prints it. Servers refuse to run as
# root, so there it belongs to the account ACCOUNT (or nobody, without that).
servers_folder() {
    local home=$servers_dir/$1 account=$2
    mkdir -m 700 -- "$home" || return 1
    if [[ $(id -u) -eq 0 ]]; then
        id -u "$account" >/dev/null 2>&1 || account=nobody
        chown "$account:$(id -g "$account")" -- "$home" || return 1
    fi
    echo "$home"
}

# Runs COMMAND… in the folder HOME as the owner of HOME. For subshells: it does
# not return.
servers_exec() {
    local home=$1 owner
    shift
    owner=$(stat -c %U -- "$home") && cd "$home" || exit 1
    # The POSIX form of the zone needs no zone files.
    export TZ=IST-5:30 HOME=$home LC_ALL=C.UTF-8
    if [[ $(id -u) -eq 0 ]]; then
        exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups -- "$@"
    fi
    exec "$@"
}

# A preparing step of a server; what it says goes to the server's log.
servers_step() {
    local home=$1
    (servers_exec "$@") >>"$home/log" 2>&1 </dev/null || servers_failed "$home"
}

# True while the server in HOME runs. The command line is compared because
# after a restart of the machine the number may be another process's.
servers_alive() {
    local pid
    pid=$(cat "$1/pid" 2>/dev/null) && [[ -n $pid ]] || return 1
    grep -qaF -- "$1/" "/proc/$pid/cmdline" 2>/dev/null
}

# Starts COMMAND… as a server in HOME and waits until its log says READY. It
# gets a session of its own: Ctrl-C must reach it only through servers_stop.
servers_launch() {
    local home=$1 ready=$2 try
    shift 2
    # shellcheck disable=SC2016  # $$ is the inner shell, which becomes the server
    (servers_exec "$home" setsid bash -c 'echo $$ >pid && exec "$@"' "$home/launch" "$@") \
        >>"$home/log" 2>&1 </dev/null &
    for ((try = 0; try < 600; try++)); do
        grep -qa -- "$ready" "$home/log" && return 0
        # The first moments pass before there is a number.
        if [[ -s $home/pid || $try -gt 50 ]] && ! servers_alive "$home"; then break; fi
        sleep 0.1
    done
    servers_failed "$home"
}

servers_failed() {
    servers_say "${1##*/} did not start; the end of its log:"
    tail -n 40 -- "$1/log" >&2
    return 1
}

# A port that nothing listens on, below the range of outgoing connections.
servers_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# ---- the servers ------------------------------------------------------------

servers_postgres() {
    local bin home port sockets
    bin=$(servers_pg_bin) && home=$(servers_folder postgres postgres) && port=$(servers_port) || return 1
    # A socket's path has room for 107 bytes.
    sockets=$home && ((${#home} < 80)) || sockets=
    printf '%s\n' "$servers_password" >"$home/password" && chmod 644 -- "$home/password" || return 1
    # Not the C collation: an order that a query forgot to make binary must show.
    servers_step "$home" "$bin/initdb" --pgdata="$home/data" --no-sync --encoding=UTF8 \
        --locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US \
        --username="$servers_user" --pwfile="$home/password" --auth=scram-sha-256 || return 1
    servers_launch "$home" 'ready to accept connections' "$bin/postgres" -D "$home/data" \
        -c listen_addresses=127.0.0.1 -c port="$port" -c unix_socket_directories="$sockets" \
        -c timezone="$servers_zone" -c max_connections=200 -c shared_buffers=64MB \
        -c fsync=off -c full_page_writes=off -c synchronous_commit=off || return 1
    export FLOWMEND_TEST_POSTGRES_URL="postgres://$servers_user:$servers_password@127.0.0.1:$port/postgres"
}

# Writes the statements with which MariaDB and MySQL make the account at their
# first start: no client and no password on a command line is needed.
servers_accounts() {
    local host
    for host in 127.0.0.1 localhost; do
        echo "CREATE USER '$servers_user'@'$host' IDENTIFIED BY '$servers_password';"
        echo "GRANT ALL PRIVILEGES ON *.* TO '$servers_user'@'$host' WITH GRANT OPTION;"
    done >"$1/accounts.sql"
    # Readable for the owner of the folder, which nobody else can enter.
    chmod 644 -- "$1/accounts.sql"
}

# The options that MariaDB and MySQL share, one a line.
servers_mysql_options() {
    local home=$1 port=$2
    printf '%s\n' --datadir="$home/data" --socket="$home/sock" --pid-file="$home/server.pid" \
        --init-file="$home/accounts.sql" --bind-address=127.0.0.1 --port="$port" --skip-name-resolve \
        --default-time-zone="$servers_offset" --character-set-server=utf8mb4 --max-connections=200 \
        --performance-schema=OFF --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0
}

servers_mariadb() {
    local mariadbd home port options
    mariadbd=$(servers_mariadbd) && home=$(servers_folder mariadb mysql) && port=$(servers_port) || return 1
    servers_accounts "$home" || return 1
    servers_step "$home" mariadb-install-db --no-defaults --datadir="$home/data" --skip-test-db \
        --auth-root-authentication-method=socket --innodb-log-file-size=16M || return 1
    mapfile -t options < <(servers_mysql_options "$home" "$port")
    servers_launch "$home" 'ready for connections\.' "$mariadbd" --no-defaults "${options[@]}" \
        --skip-log-bin --innodb-log-file-size=16M --innodb-fast-shutdown=2 || return 1
    export FLOWMEND_TEST_MARIADB_URL="mysql://$servers_user:$servers_password@127.0.0.1:$port/mysql"
}

# Prints, one word a line, how to run PROGRAM of the folder FLOWMEND_MYSQL_ROOT.
# The folder's own loader and libraries do: unlike chroot this needs no root,
# and the program still sees the files of this system.
servers_in_mysql_root() {
    local root loader libraries
    root=$(realpath -- "$FLOWMEND_MYSQL_ROOT") && [[ -x $root/$1 ]] || return 1
    loader=("$root"/lib*/ld-linux*.so.*)
    libraries=("$root"/usr/lib/*-linux-gnu*)
    printf '%s\n' "${loader[0]}" --library-path "${libraries[0]}" "$root/$1"
}

# Writes the program FLOWMEND_TEST_MYSQL_CLIENT, so that tests need not know
# where the client comes from. Without a client the variable stays unset.
servers_mysql_client() {
    local client
    if [[ -n ${FLOWMEND_MYSQL_ROOT:-} ]]; then
        mapfile -t client < <(servers_in_mysql_root usr/bin/mysql)
    else
        client=("$(realpath -q -- "$(dirname -- "$FLOWMEND_MYSQLD")/../bin/mysql")")
    fi
    [[ -x ${client[0]:-} ]] || return 0
    printf '#!/bin/sh\nexec%s "$@"\n' "$(printf ' %q' "${client[@]}")" >"$servers_dir/mysql-client"
    chmod 755 -- "$servers_dir/mysql-client"
    export FLOWMEND_TEST_MYSQL_CLIENT=$servers_dir/mysql-client
}

servers_mysql() {
    local mysqld base=() home port options
    if [[ -n ${FLOWMEND_MYSQL_ROOT:-} ]]; then
        mapfile -t mysqld < <(servers_in_mysql_root usr/sbin/mysqld)
        home=${mysqld[*]: -1}
        home=${home%/sbin/mysqld}
        base=(--basedir="$home" --plugin-dir="$home/lib/mysql/plugin")
    else
        mysqld=("$(realpath -- "$FLOWMEND_MYSQLD")")
    fi
    # On Debian `mysqld` is often a link to MariaDB.
    if ! "${mysqld[@]}" --no-defaults --version 2>/dev/null | grep -v MariaDB >&2; then
        servers_say "no MySQL server in FLOWMEND_MYSQL_ROOT or FLOWMEND_MYSQLD"
        return 1
    fi
    home=$(servers_folder mysql mysql) && port=$(servers_port) || return 1
    servers_accounts "$home" || return 1
    servers_step "$home" "${mysqld[@]}" --no-defaults "${base[@]}" --initialize-insecure \
        --datadir="$home/data" || return 1
    mapfile -t options < <(servers_mysql_options "$home" "$port")
    servers_launch "$home" 'ready for connections\.' "${mysqld[@]}" --no-defaults "${base[@]}" "${options[@]}" \
        --mysqlx=OFF --secure-file-priv=NULL --innodb-doublewrite=OFF \
        --server-id=1 --log-bin="$home/data/binlog" --sync-binlog=0 \
        --gtid-mode=ON --enforce-gtid-consistency=ON || return 1
    export FLOWMEND_TEST_MYSQL_URL="mysql://$servers_user:$servers_password@127.0.0.1:$port/mysql"
    servers_mysql_client
}

# An authority and a certificate of it for 127.0.0.1, in the folder given.
servers_certificates() {
    local to=$1
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=flowmend-tests -keyout "$to/ca.key" -out "$to/ca.pem" &&
        openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout "$to/server.key" -out "$to/server.csr" &&
        openssl x509 -req -in "$to/server.csr" -CA "$to/ca.pem" -CAkey "$to/ca.key" -CAcreateserial -days 2 \
            -extfile <(printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n') -out "$to/server.pem" &&
        chmod 644 -- "$to/server.key"
}

servers_zookeeper() {
    local home port
    home=$(servers_folder zookeeper nobody) && port=$(servers_port) || return 1
    printf '%s\n' "dataDir=$home/data" "clientPort=$port" clientPortAddress=127.0.0.1 \
        admin.enableServer=false tickTime=500 maxClientCnxns=0 >"$home/zoo.cfg" && chmod 644 -- "$home/zoo.cfg" || return 1
    servers_launch "$home" 'binding to port' java -Xmx128m -XX:+UseSerialGC \
        -cp "$servers_zookeeper_jar:${servers_zookeeper_jar%/*}/slf4j-simple.jar" \
        org.apache.zookeeper.server.ZooKeeperServerMain "$home/zoo.cfg" || return 1
    export FLOWMEND_TEST_ZOOKEEPER=127.0.0.1:$port
}

servers_etcd() {
    local home port tls urls
    home=$(servers_folder etcd nobody) && port=$(servers_port) && tls=$(servers_port) || return 1
    urls=http://127.0.0.1:$port,https://127.0.0.1:$tls
    servers_launch "$home" 'ready to serve client requests' etcd --data-dir "$home/data" --unsafe-no-fsync \
        --listen-client-urls "$urls" --advertise-client-urls "$urls" --listen-peer-urls http://127.0.0.1:0 \
        --cert-file "$servers_dir/server.pem" --key-file "$servers_dir/server.key" || return 1
    export FLOWMEND_TEST_ETCD=127.0.0.1:$port FLOWMEND_TEST_ETCD_TLS=127.0.0.1:$tls
}

servers_registries() {
    servers_certificates "$servers_dir" >"$servers_dir/certificates.log" 2>&1 ||
        { servers_say "no certificates:" && cat -- "$servers_dir/certificates.log" >&2; return 1; }
    export FLOWMEND_TEST_CA=$servers_dir/ca.pem
    servers_zookeeper && servers_etcd
}

# ---- all of them ------------------------------------------------------------

servers_exports=(FLOWMEND_TEST_POSTGRES_URL FLOWMEND_TEST_MARIADB_URL FLOWMEND_TEST_MYSQL_URL FLOWMEND_TEST_MYSQL_CLIENT
    FLOWMEND_TEST_ZOOKEEPER FLOWMEND_TEST_ETCD FLOWMEND_TEST_ETCD_TLS FLOWMEND_TEST_CA)

# Starts every server and exports its address. On failure nothing stays behind.
servers_start() {
    unset "${servers_exports[@]}"
    servers_install || return 1
    servers_dir=$(mktemp -d "${TMPDIR:-/tmp}/flowmend-servers.XXXXXX") || return 1
    # Other accounts may pass through; each server's folder is closed to them.
    chmod 711 -- "$servers_dir"
    servers_password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    if servers_postgres && servers_mariadb && servers_registries; then
        [[ -n ${FLOWMEND_MYSQL_ROOT:-}${FLOWMEND_MYSQLD:-} ]] || return 0
        servers_mysql && return 0
    fi
    servers_stop
    return 1
}

# servers_signal SIGNAL: to every server that runs; false if none does.
servers_signal() {
    local home any=1
    for home in "$servers_dir"/*; do
        servers_alive "$home" || continue
        kill -s "$1" "$(cat "$home/pid")" 2>/dev/null
        any=0
    done
    return "$any"
}

# Stops what servers_start started and removes its folder.
servers_stop() {
    local try
    [[ -n $servers_dir && -d $servers_dir ]] || return 0
    # All of it is thrown away: no server has to write its data out in peace.
    servers_signal QUIT || :
    for ((try = 0; try < 100; try++)); do
        servers_signal 0 || break
        sleep 0.1
    done
    servers_signal KILL || :
    rm -rf --one-file-system -- "$servers_dir"
    servers_dir=
}

# ---- as a program -----------------------------------------------------------

servers_usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

servers_main() {
    set -euo pipefail
    local command=${1:-} file=${2:-} name
    [[ -n $file ]] || servers_usage
    trap servers_stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    case $command in
    run)
        [[ $file == -- && $# -gt 2 ]] || servers_usage
        servers_start || exit 1
        "${@:3}"
        ;;
    start)
        [[ ! -e $file ]] || { servers_say "$file exists: stop those servers first"; exit 1; }
        servers_start || exit 1
        (
            umask 077
            for name in "${servers_exports[@]}"; do
                [[ -z ${!name:-} ]] || printf 'export %s=%q\n' "$name" "${!name}"
            done >"$file"
            printf '# servers in %s\n' "$servers_dir" >>"$file"
        )
        # They stay up.
        trap - EXIT
        ;;
    stop)
        [[ -e $file ]] || { servers_say "no $file: nothing to stop"; exit 0; }
        servers_dir=$(sed -n 's/^# servers in //p' "$file")
        # What follows removes a folder: only one of ours.
        [[ ${servers_dir##*/} == flowmend-servers.?????? ]] || { servers_dir=; servers_say "not ours: $file"; exit 1; }
        servers_stop
        rm -f -- "$file"
        ;;
    *) servers_usage ;;
    esac
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || servers_main "$@"
