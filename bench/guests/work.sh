# SPDX-License-Identifier: GPL-2.0-or-later
# What people run: Lua, git and SQLite, each in a few processes. `sh work.sh N` does it N times.
run() {
    program=$1
    shift
    /p/lib/ld-linux-aarch64.so.1 --library-path /p/lib "/p/bin/$program" "$@"
}

mount -t devtmpfs dev /dev
export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
i=0
while [ "$i" -lt "$1" ]; do
    run lua5.4 /mix.lua 6
    run sqlite3 "/tmp/$i.db" </work.sql | wc -l
    run git init -q "/tmp/$i"
    ls -lR /sys/bus >"/tmp/$i/list"
    ls -lR /sys/kernel >"/tmp/$i/kernel"
    run git -C "/tmp/$i" add .
    run git -C "/tmp/$i" commit -q -m first
    sort "/tmp/$i/list" >"/tmp/$i/sorted"
    cat /proc/meminfo >"/tmp/$i/list"
    run git -C "/tmp/$i" add .
    run git -C "/tmp/$i" commit -q -m second
    run git -C "/tmp/$i" log --stat -p | wc -l
    i=$((i + 1))
done
