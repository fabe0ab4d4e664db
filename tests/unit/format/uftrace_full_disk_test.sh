#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a full disk a directory's files are the old ones or the new ones, never half of one.
# usage: uftrace_full_disk_test.sh UFTRACE_MAKE
set -u
if [ -z "${GT_FULL_DISK:-}" ]; then
    # In a chroot, whose / is no mount, nothing can be made private; what we mount is unmounted.
    if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
        as=private
    elif [ "$(id -u)" = 0 ] && unshare -m --propagation unchanged true 2>/dev/null; then
        as=unchanged
    else
        echo "SKIP: no root, so no small tmpfs to fill"
        exit 77
    fi
    GT_FULL_DISK=$(mktemp -d) || exit 1
    export GT_FULL_DISK
    unshare -m --propagation "$as" "$0" "$@"
    status=$?
    rmdir "$GT_FULL_DISK"
    exit $status
fi
make=$1 top=$GT_FULL_DISK
check() { python3 -m gttest.uftrace_check --no-readers "$@"; }
fail() { echo "$*"; exit 1; }
mount -t tmpfs -o size=512k none "$top" || { echo "SKIP: tmpfs cannot be mounted"; exit 77; }
trap 'umount "$top"' EXIT

"$make" killed "$top/t" || fail "no directory to start from"
cat "$top"/t/* | cksum >"$top/sum"
dd if=/dev/zero of="$top/filler" bs=4k 2>/dev/null # until it is full
"$make" repair "$top/t" >"$top/../$$.out" 2>&1 && fail "repair on a full disk succeeds"
grep -q 'No space left' "$top/../$$.out" || fail "repair says: $(cat "$top/../$$.out")"
rm "$top/../$$.out"
find "$top/t" -name '*.tmp' | grep -q . && fail "a temporary file is left"
check --open-ok "$top/t" || fail "the full disk broke the directory"

rm "$top/filler"
"$make" repair "$top/t" >/dev/null || fail "repair with space again"
check "$top/t" || fail "not whole after repair with space again"
