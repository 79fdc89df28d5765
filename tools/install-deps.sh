#!/bin/sh
# Installs what a target needs and this machine lacks: with apt-get on Debian and Ubuntu; elsewhere
# it prints the packages' names. Where nothing is missing it does nothing and needs no network.
#
#   install-deps.sh GROUP|NAME...           groups: build, test, lint, tsan
#   install-deps.sh --names GROUP|NAME...   prints the names for the common systems, installs nothing
set -eu

tools=$(dirname "$0")

group() { # the things of a group
    case $1 in
    build) echo compiler cxx openmp openblas cjson zlib curl crypto ;;
    test) echo compiler cxx openmp openblas cjson zlib curl crypto criterion ;;
    lint) echo clang-tidy clang-format cppcheck shellcheck openmp-clang ;;
    tsan) echo clang archer openblas-serial ;;
    *) echo "$1" ;;
    esac
}

# The packages that bring a thing, one row per thing. Criterion is in Alpine's testing repository
# and, for Arch, in the AUR.
packages() { # SYSTEM THING
    awk -v thing="$2" -v system_name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == system_name) column = i; next }
        $1 == thing && $column != "-" { gsub(",", " ", $column); print $column }' << 'END'
thing           debian                   fedora                  arch       opensuse                alpine
compiler        gcc,libc6-dev,pkg-config gcc,pkgconf-pkg-config  gcc,pkgconf gcc,pkg-config         gcc,musl-dev,pkgconf
cxx             g++                      gcc-c++                 gcc        gcc-c++                 g++
openmp          gcc                      gcc                     gcc        gcc                     gcc
openblas        libopenblas-openmp-dev   openblas-devel          openblas   openblas_openmp-devel   openblas-dev
cjson           libcjson-dev             cjson-devel             cjson      cJSON-devel             cjson-dev
zlib            zlib1g-dev               zlib-devel              zlib       zlib-devel              zlib-dev
curl            libcurl4-openssl-dev     libcurl-devel           curl       libcurl-devel           curl-dev
crypto          libssl-dev               openssl-devel           openssl    libopenssl-devel        openssl-dev
criterion       libcriterion-dev         criterion-devel         criterion  criterion-devel         criterion-dev
clang           clang                    clang                   clang      clang                   clang
clang-tidy      clang-tidy               clang-tools-extra       clang      clang-tools             clang-extra-tools
clang-format    clang-format             clang-tools-extra       clang      clang-tools             clang-extra-tools
openmp-clang    libomp-dev               libomp-devel            openmp     libomp-devel            openmp-dev
cppcheck        cppcheck                 cppcheck                cppcheck   cppcheck                cppcheck
shellcheck      shellcheck               ShellCheck              shellcheck ShellCheck              shellcheck
archer          clang,libomp-dev         clang,libomp-devel      openmp     libomp-devel            openmp-dev
openblas-serial libopenblas-serial-dev   openblas-serial         openblas   openblas-devel          openblas-dev
END
}

all_packages() { # SYSTEM THING...: each package once
    system=$1
    shift
    for thing in "$@"; do
        packages "$system" "$thing"
    done | tr ' ' '\n' | awk 'NF && !seen[$0]++' | tr '\n' ' '
}

print_names() {
    echo "Install these, then run make again (on Debian and Ubuntu, make deps does it):"
    # shellcheck disable=SC2086
    while read -r system command; do
        echo "  $command $(all_packages "$system" "$@")"
    done << 'END'
debian Debian, Ubuntu:  apt-get install
fedora Fedora:          dnf install
arch Arch:            pacman -S
opensuse openSUSE:        zypper install
alpine Alpine:          apk add
END
}

names_only=0
if [ "${1:-}" = --names ]; then
    names_only=1
    shift
fi
wanted=
for argument in "$@"; do
    wanted="$wanted $(group "$argument")"
done
if [ "$names_only" = 1 ]; then
    # shellcheck disable=SC2086 # a list of words
    print_names $wanted
    exit 0
fi

# shellcheck disable=SC2086
missing=$("$tools/probe.sh" --missing $wanted)
[ -n "${missing% }" ] || exit 0
echo "Missing here: $missing"
if ! command -v apt-get > /dev/null; then
    # shellcheck disable=SC2086
    print_names $missing
    exit 1
fi

# shellcheck disable=SC2086
install=$(all_packages debian $missing)
as_root=
if [ "$(id -u)" != 0 ]; then
    # A terminal can ask for the password; a script cannot wait for one.
    if command -v sudo > /dev/null && { [ -t 0 ] || sudo -n true 2> /dev/null; }; then
        as_root=sudo
    else
        echo "lockstep: installing needs root and there is no sudo to use here. As root, run:" >&2
        echo "  apt-get update && apt-get install -y $install" >&2
        exit 1
    fi
fi
echo "Installing with apt-get: $install"

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}
update() {
    updated=1
    apt update || echo "lockstep: apt-get update failed; trying with the lists that are here" >&2
}
known() { # are all packages in apt's lists?
    # shellcheck disable=SC2086
    apt-get install -s $install > /dev/null 2>&1
}

updated=0
known || update
unknown=
for package in $install; do
    apt-cache show "$package" > /dev/null 2>&1 || unknown="$unknown $package"
done
if [ -n "$unknown" ]; then
    echo "lockstep: apt does not offer:$unknown" >&2
    echo "  On Ubuntu they are in 'universe'. To turn it on: apt-get install" >&2
    echo "  software-properties-common && add-apt-repository universe   (as root)" >&2
    echo "  They are in Debian 12, Ubuntu 24.04 and newer releases of both." >&2
    exit 1
fi
# shellcheck disable=SC2086
if ! apt install --no-install-recommends $install; then
    # Lists that are old name files which the mirror has replaced since.
    [ "$updated" = 0 ] || exit 1
    update
    # shellcheck disable=SC2086
    apt install --no-install-recommends $install
fi
rm -f build/config.mk build/*/config.mk # what was found before is no longer true
