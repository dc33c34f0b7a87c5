#!/usr/bin/env bash
# Runs real nodes of Quartz, each in a process of its own, so that a test can kill
# one of them.
#
#   quartz.sh get RELEASE                        fetches and caches a release
#   quartz.sh got RELEASE                        whether it is there
#   quartz.sh schema RELEASE ENGINE              path of its DDL (mysql, postgresql)
#   quartz.sh store RELEASE DIR URL SERVER       puts the jobs into the tables
#   quartz.sh start RELEASE DIR URL SERVER…
#   quartz.sh stop DIR SERVER…                   asks them to end and waits
#   quartz.sh kill DIR SERVER…                   kill -9
#   quartz.sh alive DIR SERVER                   whether it runs
#   quartz.sh signal DIR SERVER NAME             sends it a signal
#
# SERVER is a name of your choice, and the node's instance id. A node is clustered
# if its name begins with "cluster"; one whose name ends in "full" has the classes
# of all jobs. DIR keeps logs and what jobs write (DIR/marks). URL is the address
# of the database, with user and password.
#
# Nothing of Quartz is kept in this project. `get` fetches 2.3.2 as Debian has it
# (libquartz2-java), other releases from Maven Central, and drivers from Debian,
# into FLOWMEND_REAL_CACHE (~/.cache/flowmend-real); nothing is installed. `store`
# builds the node there, with a JDK.
set -euo pipefail

here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

home_of() { echo "$cache/quartz-$1"; }

# Puts jars of Debian's packages into a folder, without installing them.
debian_jars() {
    local to=$1 work jar package
    work=$(mktemp -d)
    shift
    (
        cd -- "$work"
        apt-get -o APT::Sandbox::User=root download "$@"
        for package in *.deb; do dpkg-deb -x "$package" .; done
    ) >&2
    for jar in quartz2 slf4j-api slf4j-simple postgresql mariadb-java-client; do
        [[ ! -e $work/usr/share/java/$jar.jar ]] || cp -L -- "$work/usr/share/java/$jar.jar" "$to/"
    done
    rm -rf -- "$work"
}

get() {
    local release=$1 home packages=(libslf4j-java libpostgresql-jdbc-java libmariadb-java)
    home=$(home_of "$release")
    [[ ! -e $home/done ]] || return 0
    rm -rf -- "$home"
    mkdir -p -- "$home"/{jars,sql}
    if [[ $release == 2.3.2 ]]; then
        packages+=(libquartz2-java)
    else
        mvn -q -B -f "$here/pom.xml" dependency:copy -DoutputDirectory="$home/jars" \
            -Dartifact="org.quartz-scheduler:quartz:$release"
    fi
    debian_jars "$home/jars" "${packages[@]}"
    unzip -q -j "$home"/jars/quartz*.jar 'org/quartz/impl/jdbcjobstore/tables_*' -d "$home/sql"
    touch -- "$home/done"
}

# Builds the node, unless what was built is as new as its source.
build() {
    local home=$1
    [[ ! -e $home/built || -n $(find "$here/quartz" -newer "$home/built") ]] || return 0
    rm -rf -- "$home/classes" "$home/full"
    mkdir -p -- "$home/classes" "$home/full/flowmend"
    javac -nowarn -cp "$home/jars/*" -d "$home/classes" "$here"/quartz/*.java
    mv -- "$home/classes/flowmend/Missing.class" "$home/full/flowmend/"
    touch -- "$home/built"
}

got() { [[ -e $(home_of "$1")/done ]]; }

schema() {
    case $2 in
    mysql) echo "$(home_of "$1")/sql/tables_mysql_innodb.sql" ;;
    postgresql) echo "$(home_of "$1")/sql/tables_postgres.sql" ;;
    esac
}

# One NAME=VALUE a line.
settings() {
    local dir=$1 url=$2 scheme rest user
    scheme=${url%%://*} rest=${url#*://}
    user=${rest%@*}
    case $scheme in
    postgres*)
        echo "QUARTZ_URL=jdbc:postgresql://${rest#*@}"
        echo QUARTZ_DELEGATE=org.quartz.impl.jdbcjobstore.PostgreSQLDelegate
        ;;
    *)
        echo "QUARTZ_URL=jdbc:mariadb://${rest#*@}"
        echo QUARTZ_DELEGATE=org.quartz.impl.jdbcjobstore.StdJDBCDelegate
        ;;
    esac
    echo "QUARTZ_USER=${user%%:*}"
    echo "QUARTZ_PASSWORD=${user#*:}"
    echo "QUARTZ_MARKS=$dir/marks"
}

# The command that runs the node's program with the classes of SERVER; one word a line.
program() {
    local home full=
    home=$(home_of "$1")
    [[ $2 != *full ]] || full=:$home/full
    printf '%s\n' java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.showDateTime=true \
        -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss -cp "$home/classes$full:$home/jars/*" flowmend.Node
}

store() {
    local words
    build "$(home_of "$1")"
    mapfile -t words < <(program "$1" full)
    mkdir -p -- "$2/marks"
    (real_with "${words[@]}" store "$4") < <(settings "$2" "$3") 2>&1
}

start() {
    local release=$1 dir=$2 url=$3 server words
    got "$release" || die "no $(home_of "$release"): run 'get $release' first"
    shift 3
    for server in "$@"; do
        mapfile -t words < <(program "$release" "$server")
        (real_with real_launch "$dir" "$server" 'Node is up' "${words[@]}" run "$server") \
            < <(settings "$dir" "$url")
    done
}

command=${1:-}
[[ $# -gt 0 ]] || usage
shift
case $command:$# in
get:1 | got:1 | schema:2) "$command" "$@" ;;
store:4 | start:[4-9]) "$command" "$1" "$(realpath -m -- "$2")" "${@:3}" ;;
stop:[2-9] | kill:[2-9] | alive:2 | signal:3) real_command "$command" "$@" ;;
*) usage ;;
esac
