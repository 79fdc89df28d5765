#!/bin/sh
# Writes standard input to FILE, but leaves FILE and its time stamp alone where nothing changed, so
# that make rebuilds only what depends on a real change.   Usage: write_if_changed.sh FILE
set -eu
mkdir -p "$(dirname "$1")"
cat > "$1.new"
if cmp -s "$1.new" "$1"; then
    rm -f "$1.new"
else
    mv -f "$1.new" "$1"
fi
