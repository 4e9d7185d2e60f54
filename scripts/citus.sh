#!/bin/sh
# Builds Citus from its released source and installs it into a PostgreSQL.
#
#   scripts/citus.sh citus-13.2.0.tar.gz
#   scripts/citus.sh a-folder-with-its-source
#
# PG_CONFIG names the pg_config of the PostgreSQL; default: the one of the PATH. On Debian the packages
# postgresql-server-dev-15, build-essential, flex, liblz4-dev, libzstd-dev, libssl-dev and libkrb5-dev are needed. Citus 13
# takes PostgreSQL 15 to 17. Installing needs the right to write into PostgreSQL's folders.
set -eu

source=${1:?the archive or the folder of the source of Citus}
pg_config=${PG_CONFIG:-pg_config}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

if [ -d "$source" ]; then
  cp -R "$source/." "$build"
else
  tar -xf "$source" -C "$build" --strip-components=1
fi
cd "$build"
# Copied, it may look older than what it was made from, which has it made again by tools that are not needed.
touch configure

# PostgreSQL 15.14 and later export a function that Citus defines for itself.
grep -rl have_createdb_privilege src --include='*.[ch]' | while read -r file; do
  sed -i 's/\bhave_createdb_privilege\b/citus_have_createdb_privilege/g' "$file"
done

./configure --without-libcurl PG_CONFIG="$pg_config"
make -j "$(getconf _NPROCESSORS_ONLN)"
make install
