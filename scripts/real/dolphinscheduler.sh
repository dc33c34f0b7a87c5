#!/usr/bin/env bash
# Runs a real Apache DolphinScheduler, each server in a process of its own, so
# that a test can kill one of them.
#
#   dolphinscheduler.sh get RELEASE              builds and caches a release
#   dolphinscheduler.sh got RELEASE              whether it is there
#   dolphinscheduler.sh schema RELEASE ENGINE    path of its DDL (mysql, postgresql)
#   dolphinscheduler.sh start RELEASE DIR URL SERVER…
#   dolphinscheduler.sh stop DIR SERVER…         asks them to end and waits
#   dolphinscheduler.sh kill DIR SERVER…         kill -9
#   dolphinscheduler.sh alive DIR SERVER         whether it runs
#   dolphinscheduler.sh signal DIR SERVER NAME   sends it a signal
#   dolphinscheduler.sh ports                    prints SERVER PORT
#
# SERVER is one of: zookeeper, api, worker, master. DIR keeps logs and data of
# one installation. URL is the address of its database, with user and password.
#
# Nothing of DolphinScheduler is kept in this project. `get` builds a tag of a
# clone that FLOWMEND_REAL_SOURCE names (a work tree or a bare repository), with
# Maven, into FLOWMEND_REAL_CACHE (~/.cache/flowmend-real). It needs Java 17.
set -euo pipefail

connector=com.mysql:mysql-connector-j:8.0.33
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

# What differs between releases; the first row that fits is taken.
#
# LAYOUT   what the build makes: a folder for each server, or one class path
# UNITS    whether durations carry their unit (2s, 1m) or are bare numbers of it
# LOGS     how a server is told to log to standard output
# NEWER    ZooKeeper's library to use; - for the release's own. 3.4 cannot connect on Java 14 and later
# AT       what to check out; - for the tag of that name. For 3.3 there is only a commit before it
# RELEASE  LAYOUT    UNITS  LOGS     NEWER  AT
releases='
2.0.*      classpath bare   logback  3.5.9  -
3.3-dev    servers   named  docker   -      7e0095dca198bfc50c59bbc10b3be5617d7b3229
*          servers   named  docker   -      -
'

# The value of COLUMN for RELEASE.
of_release() {
    local column=$1 release=$2 pattern layout units logs newer at
    # shellcheck disable=SC2034,SC2053  # columns are named by $column; a pattern it is
    while read -r pattern layout units logs newer at; do
        [[ -n $pattern && $release == $pattern ]] || continue
        echo "${!column}"
        return
    done <<<"$releases"
}

# ---- getting a release ------------------------------------------------------

# Everything that is not needed to run: tests, style checks, sources, the web pages.
build_flags=(-B -ntp -T2 -Dmaven.test.skip=true -Dspotless.check.skip=true -Djacoco.skip=true
    -Dmaven.javadoc.skip=true -Dmaven.source.skip=true -Dmdep.analyze.skip=true
    # The Lombok of the releases is too old for Java 17.
    -Dlombok.version=1.18.30)

# Lays out the source of RELEASE in FOLDER. The web pages' module must exist, empty.
unpack() {
    local release=$1 folder=$2 git_dir at
    at=$(of_release at "$release")
    [[ $at != - ]] || at=$release
    git_dir=$(git -C "${FLOWMEND_REAL_SOURCE:?names no clone of apache/dolphinscheduler}" rev-parse --absolute-git-dir)
    mkdir -p -- "$folder"
    git --git-dir="$git_dir" archive "$at" | tar -x -C "$folder" --exclude='dolphinscheduler-ui/*'
    git --git-dir="$git_dir" archive "$at" dolphinscheduler-ui/pom.xml | tar -x -C "$folder"
}

# Puts what the build made where `start` looks for it: one folder with `libs` and
# `conf` for each server …
keep_servers() {
    local from=$1 to=$2 server
    for server in api worker master; do
        mkdir -p -- "$to/$server"
        cp -al -- "$from/dolphinscheduler-$server/target/$server-server/." "$to/$server/"
    done
}

# … or one for all. The settings are left out of the jars and stand in the modules.
keep_classpath() {
    local from=$1 to=$2 server module jars
    mkdir -p -- "$to/master/libs" "$to/master/conf"
    mapfile -d : -t jars <"$from/dolphinscheduler-standalone-server/target/classpath"
    cp -l -- "${jars[@]}" "$to/master/libs/" 2>/dev/null || cp -- "${jars[@]}" "$to/master/libs/"
    for module in common dao service server api; do
        cp -a -- "$from/dolphinscheduler-$module/src/main/resources/." "$to/master/conf/"
    done
    for server in api worker; do ln -sfn -- master "$to/$server"; done
}

get() {
    local release=$1 work=$cache/src/$1 home=$cache/$1 library libraries=("$connector") zookeeper
    [[ ! -e $home/done ]] || return 0
    [[ -e $work/pom.xml ]] || unpack "$release" "$work"
    (cd -- "$work" && MAVEN_OPTS=-Xmx1200m mvn "${build_flags[@]}" package \
        dependency:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=runtime \
        -pl dolphinscheduler-standalone-server -am) >"$work.log" 2>&1 ||
        die "the build failed: $work.log"
    "keep_$(of_release layout "$release")" "$work" "$home"
    cp -al -- "$work/dolphinscheduler-dao/src/main/resources/sql" "$home/sql"
    zookeeper=$(of_release newer "$release")
    [[ $zookeeper == - ]] || libraries+=(org.apache.zookeeper:zookeeper{,-jute}:"$zookeeper")
    for library in "${libraries[@]}"; do
        mvn -q -B -f "$here/pom.xml" dependency:copy -Dartifact="$library" -DoutputDirectory="$home/first"
    done
    touch -- "$home/done"
}

schema() {
    local file=$cache/$1/sql/dolphinscheduler_$2.sql
    [[ -e $file ]] || die "no $file: run 'get $1' first"
    echo "$file"
}

# ---- running ----------------------------------------------------------------

port() {
    case $1 in
    zookeeper) echo "$base" ;;
    api) echo $((base + 1)) ;;
    worker) echo $((base + 2)) ;;
    worker-http) echo $((base + 3)) ;;
    master) echo $((base + 4)) ;;
    master-http) echo $((base + 5)) ;;
    esac
}

main_class() {
    case $1 in
    zookeeper) echo org.apache.zookeeper.server.ZooKeeperServerMain ;;
    api) echo org.apache.dolphinscheduler.api.ApiApplicationServer ;;
    worker) echo org.apache.dolphinscheduler.server.worker.WorkerServer ;;
    master) echo org.apache.dolphinscheduler.server.master.MasterServer ;;
    *) die "unknown server $1" ;;
    esac
}

# The line of the log that says that SERVER is up.
ready() {
    case $1 in
    zookeeper) echo 'binding to port' ;;
    api) echo 'Started ApiApplicationServer in' ;;
    worker) echo 'Started WorkerServer in' ;;
    master) echo 'Started MasterServer in' ;;
    esac
}

# Spring takes these as settings of the highest rank; one NAME=VALUE a line.
settings() {
    local release=$1 server=$2 url=$3 scheme rest user address second=s minute=m profile
    [[ $(of_release units "$release") == named ]] || second='' minute=''
    scheme=${url%%://*} rest=${url#*://}
    user=${rest%@*} address=${rest#*@}
    case $scheme in
    postgres*)
        profile=postgresql
        echo "SPRING_DATASOURCE_URL=jdbc:postgresql://$address?stringtype=unspecified"
        ;;
    *)
        profile=mysql
        echo "SPRING_DATASOURCE_URL=jdbc:mysql://$address?useUnicode=true&characterEncoding=UTF-8&allowPublicKeyRetrieval=true&useSSL=false"
        ;;
    esac
    echo "SPRING_PROFILES_ACTIVE=$server,$profile"
    echo "SPRING_DATASOURCE_USERNAME=${user%%:*}"
    echo "SPRING_DATASOURCE_PASSWORD=${user#*:}"
    echo REGISTRY_TYPE=zookeeper
    echo "REGISTRY_ZOOKEEPER_CONNECT_STRING=127.0.0.1:$(port zookeeper)"
    # A dead server is noticed soon.
    echo REGISTRY_ZOOKEEPER_SESSION_TIMEOUT=6s
    echo "MASTER_LISTEN_PORT=$(port master)"
    echo "WORKER_LISTEN_PORT=$(port worker)"
    # Small machines are busy machines: load is no reason to wait.
    echo MASTER_MAX_CPU_LOAD_AVG=1000
    echo WORKER_MAX_CPU_LOAD_AVG=1000
    echo MASTER_MAX_CPULOAD_AVG=1000
    echo WORKER_MAX_CPULOAD_AVG=1000
    echo MASTER_RESERVED_MEMORY=0.01
    echo WORKER_RESERVED_MEMORY=0.01
    echo MASTER_SERVER_LOAD_PROTECTION_ENABLED=false
    echo WORKER_SERVER_LOAD_PROTECTION_ENABLED=false
    echo "MASTER_HEARTBEAT_INTERVAL=2$second"
    echo "WORKER_HEARTBEAT_INTERVAL=2$second"
    echo "MASTER_MAX_HEARTBEAT_INTERVAL=2$second"
    echo "WORKER_MAX_HEARTBEAT_INTERVAL=2$second"
    echo "MASTER_FAILOVER_INTERVAL=1$minute"
    # A child's run asks for the tenant "default", also if its parent's does not.
    echo WORKER_TENANT_CONFIG_DEFAULT_TENANT_ENABLED=true
    # Makes the servers log to standard output.
    echo DOCKER=true
    echo PYTHON_GATEWAY_ENABLED=false
    echo API_PYTHON_GATEWAY_ENABLED=false
    case $server in
    api) echo "SERVER_PORT=$(port api)" ;;
    *) echo "SERVER_PORT=$(port "$server-http")" ;;
    esac
}

# Options of the virtual machine that runs SERVER.
java_options() {
    local release=$1
    shift
    # Masters and workers write their own clock; tests want one zone.
    printf '%s\n' -Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k
    printf '%s\n' --add-opens=java.base/java.{lang,util,nio,net}=ALL-UNNAMED
    # Tasks run as the user who runs the test.
    printf '%s\n' -Dsudo.enable=false "-Ddata.basedir.path=$2/data"
    # Where the registry is not Spring's, its settings are the virtual machine's.
    printf '%s\n' "-Dregistry.servers=127.0.0.1:$(port zookeeper)" -Dregistry.session.timeout.ms=6000 \
        -Dregistry.block.until.connected.wait=30000
    [[ $(of_release logs "$release") != logback ]] || printf '%s\n' "-Dlogging.config=$here/logback.xml"
    case $1 in
    zookeeper) printf '%s\n' -Xmx128m -Dzookeeper.admin.enableServer=false -Dzookeeper.jmx.log4j.disable=true "-Dlogback.configurationFile=$here/logback.xml" ;;
    worker) printf '%s\n' -Xmx384m ;;
    *) printf '%s\n' -Xmx640m ;;
    esac
}

launch() {
    local release=$1 dir=$2 url=$3 server=$4 home=$cache/$1/$4 options arguments=()
    [[ $server != zookeeper ]] || home=$cache/$release/master
    [[ -d $home/libs ]] || die "no $home: run 'get $release' first"
    mkdir -p -- "$dir/data"
    mapfile -t options < <(java_options "$release" "$server" "$dir")
    [[ $server != zookeeper ]] || arguments=("$(port zookeeper)" "$dir/zookeeper/data")
    (real_with real_launch "$dir" "$server" "$(ready "$server")" java "${options[@]}" \
        -cp "$home/conf:$cache/$release/first/*:$home/libs/*" "$(main_class "$server")" "${arguments[@]}") \
        < <(settings "$release" "$server" "$url")
}

command=${1:-}
[[ $# -gt 0 ]] || usage
shift
case $command:$# in
get:1) get "$1" ;;
got:1) [[ -e $cache/$1/done ]] ;;
schema:2) schema "$1" "$2" ;;
start:[4-9])
    release=$1 dir=$(realpath -m -- "$2") url=$3
    shift 3
    for server in "$@"; do launch "$release" "$dir" "$url" "$server"; done
    ;;
stop:[2-9] | kill:[2-9] | alive:2 | signal:3) real_command "$command" "$@" ;;
ports:0) for server in zookeeper api worker master; do echo "$server $(port "$server")"; done ;;
*) usage ;;
esac
