#!/usr/bin/env bash
# Makes DIR a small Debian unstable with the real MySQL server and client, for
# `FLOWMEND_MYSQL_ROOT=DIR`. Debian stable ships only MariaDB, and MySQL's
# libraries are newer than stable's, hence a folder to chroot into.
#
#   scripts/get-mysql.sh DIR      needs root, about 600 MB and a minute or two
set -euo pipefail

die() { printf 'get-mysql.sh: %s\n' "$*" >&2; exit 1; }

[[ $# -eq 1 ]] || die "usage: get-mysql.sh DIR"
[[ $(id -u) -eq 0 ]] || die "debootstrap and chroot need root"
dir=$(realpath -m -- "$1")
if [[ -x $dir/usr/sbin/mysqld ]]; then
    echo "$dir holds MySQL already"
    exit 0
fi
# A half-made tree would be taken for a whole one by debootstrap.
if [[ -e $dir ]] && [[ -n $(ls -A -- "$dir") ]]; then
    die "$dir is neither empty nor made by this script: remove it first"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap

# The mirror that this machine already uses for Debian itself.
# shellcheck disable=SC2016  # $(…) is apt's own placeholder
mirror=$(apt-get indextargets --format '$(REPO_URI) $(LABEL) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' |
    awk '$2 == "Debian" && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || die "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d"

# Nothing half-made is left behind: the next run would refuse the folder.
finished=
trap '[[ -n $finished ]] || rm -rf --one-file-system -- "$dir"' EXIT

# debootstrap fetches the packages itself: apt inside the chroot would need the
# host's network set-up copied into it.
strap() { debootstrap --variant=minbase "$@" unstable "$dir" "$mirror"; }

# The client is a package of its own, in some releases under another name.
packages=mysql-server-core,mysql-client-core
if ! strap --print-debs --include="$packages" >/dev/null 2>&1; then
    packages=mysql-server-core
fi
strap --include="$packages"
rm -rf -- "$dir"/var/cache/apt/archives/*.deb

finished=1
chroot "$dir" /usr/sbin/mysqld --version
chroot "$dir" /usr/bin/mysql --version || echo "get-mysql.sh: Debian has no mysql client package" >&2
