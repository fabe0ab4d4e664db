#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The scripts of the front door parse, and refuse an option that they do not know with status 2.
cd "${1:-.}" || exit 1
failed=0
for s in scripts/setup scripts/qemus scripts/uftraces scripts/npm-packages scripts/kernels scripts/make-deb scripts/run-demo .ci/run; do
    sh -n "$s" || failed=1
    [ -x "$s" ] || { echo "$s: not executable"; failed=1; }
done
sh -n scripts/debian.sh || failed=1

# The hook of commits: a file that is laid out passes, another one does not.
repository=$(mktemp -d)
check=$PWD/tests/layers/format.sh
(
    cd "$repository" && mkdir -p tests/layers && cp "$OLDPWD/.clang-format" . && cp "$check" tests/layers/ &&
        git init -q . && printf 'int f(void);\n' >a.c && git add a.c && "$OLDPWD/scripts/hooks/pre-commit" || exit 1
    printf 'int  g(void);\n' >b.c && git add b.c
    tests/layers/format.sh . b.c >/dev/null 2>&1
    [ $? = 77 ] || ! "$OLDPWD/scripts/hooks/pre-commit" 2>/dev/null
) || { echo "scripts/hooks/pre-commit: passes what it should not, or refuses what it should pass"; failed=1; }
rm -rf "$repository"
for s in scripts/setup scripts/qemus scripts/uftraces scripts/npm-packages scripts/kernels scripts/make-deb scripts/run-demo; do
    "$s" --no-such-option >/dev/null 2>&1
    [ $? = 2 ] || { echo "$s --no-such-option: not refused as usage"; failed=1; }
    "$s" --help | grep -q . || { echo "$s --help: prints nothing"; failed=1; }
    # The help is the head of the file: code in it means that the range of lines is wrong.
    ! "$s" --help | grep -q '^set -' || { echo "$s --help: prints code"; failed=1; }
done
exit $failed
