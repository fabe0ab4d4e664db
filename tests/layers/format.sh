#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The source has the form that .clang-format describes. Other versions of clang-format lay out a few
# constructs differently, so that only the one that the source is written with can judge.
#
# usage: format.sh [FOLDER [FILE...]]: FILEs, or else all of FOLDER's
set -u
version=14
cd "${1:-.}" || exit 1
[ $# = 0 ] || shift

for tool in "clang-format-$version" clang-format; do
    "$tool" --version 2>/dev/null | grep -q "version $version\." && break
    tool=
done
if [ -z "$tool" ]; then
    echo "SKIP: no clang-format $version (package clang-format of Debian 12)"
    exit 77
fi
[ $# != 0 ] || set -- $(find src include examples tests bench scripts -name '*.[ch]' ! -path '*/data/*' 2>/dev/null)
"$tool" --dry-run --Werror "$@"
