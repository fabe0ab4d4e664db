# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# `scripts/qemus user`: a user-mode QEMU that loads plugins, built from Debian's source package. Debian 13's
# own is linked statically, and so loads none. Sourced by scripts/qemus, with $cache, say, apt_setup, apt.
#
# The source is that of the suites below; what it needs to compile is in scripts/setup (--what qemu).
# Only its meson is taken from there, too: Debian 12's is too old for it.

# folder below $cache, suites of the source. The first is what `guesttrace record` finds.
user_versions='
user trixie
user-newest trixie-backports sid
'
user_targets='aarch64 arm i386 riscv64 x86_64'
user_layout=1 # raise it when what is in $cache/user changes

# What is missing to build; nothing: nothing is.
user_lacks() {
    for p in gcc ninja pkg-config dpkg-source patch xz; do
        command -v "$p" >/dev/null || { echo "$p"; return; }
    done
    /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || { echo 'python3-venv'; return; }
    for l in glib-2.0 zlib capstone; do
        pkg-config --exists "$l" || { echo "the headers of $l"; return; }
    done
}

# The versions that the suites have, the newest first.
user_sources() { apt apt-cache madison qemu | awk '/ Sources$/ { print $3 }' | sort -ruV; }

# user_fetch SUITE...: a mirror may list a source that it does not have; then the next older one is taken.
user_fetch() {
    apt_setup "$arch" "$@"
    for s in "$@"; do
        apt_add_source "$s"
    done
    apt apt-get -qq update || { reason="apt cannot read $*"; return 1; }
    reason='the download failed'
    (cd "$work" && apt apt-get -qq download meson) || return 1
    for v in $(user_sources) ''; do
        [ -n "$v" ] || return 1
        (cd "$work" && apt apt-get -qq --download-only source "qemu=$v") && break
        rm -f "$work"/qemu_*
    done
    dpkg-source --no-check -x "$work"/qemu_*.dsc "$work/source" && dpkg-deb -x "$work"/meson_*.deb "$work/meson" ||
        { reason='the source could not be unpacked: is the disk full?'; return 1; }
    rm -f "$work"/*.tar.* "$work"/*.deb
}

user_configure() {
    list=
    for t in $user_targets; do
        list=$list${list:+,}$t-linux-user
    done
    mkdir -p "$work/build"
    # Nothing but what a program needs that is recorded: no library besides glib, zlib and capstone.
    (cd "$work/build" &&
        PYTHONPATH=$work/meson/usr/lib/python3/dist-packages "$work/source/configure" \
            --python=/usr/bin/python3 --prefix=/nonexistent --target-list="$list" --without-default-features \
            --disable-download --disable-install-blobs --disable-docs --disable-tools --disable-system \
            --disable-werror --enable-linux-user --enable-plugins --enable-capstone) ||
        { reason="configure failed: see $work.log"; return 1; }
}

# Ninja's lines come in: on a terminal a line with the percentage, else one for each tenth.
user_progress() {
    awk -v tty="$1" '
        match($0, /^@ *[0-9]+%/) {
            p = substr($0, 2, RLENGTH - 2) + 0
            if (p == last) next
            last = p
            if (tty) printf "\rqemus: building: %3d %%", p
            else if (p >= next_tenth) { printf "qemus: building: %d %%\n", p; next_tenth = p - p % 10 + 10 }
            fflush()
        }
        END { if (tty) print "" }'
}

user_build() {
    tty=
    [ ! -t 1 ] || tty=1
    rm -f "$work/built"
    { NINJA_STATUS='@%p ' PYTHONPATH=$work/meson/usr/lib/python3/dist-packages \
        nice ninja -C "$work/build" $(printf 'qemu-%s ' $user_targets) 2>&1 && : >"$work/built"; } |
        tee -a "$work.log" | user_progress "$tty"
    [ -e "$work/built" ] || { reason="it did not compile: see $work.log"; return 1; }
}

user_install() {
    rm -rf "$new"
    mkdir -p "$new" || return 1
    for t in $user_targets; do
        strip -o "$new/qemu-$t" "$work/build/qemu-$t" || { reason='the disk is full'; return 1; }
    done
    version=$("$new/qemu-x86_64" --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
    [ -n "$version" ] || { reason='what was built does not start'; return 1; }
    echo "$version" >"$new/version" && echo "$user_layout" >"$new/layout" || return 1
    rm -rf "$final"
    mv "$new" "$final"
}

# provide_user FOLDER: a row of the table above.
provide_user() {
    row=$(echo "$user_versions" | awk -v name="$1" '$1 == name')
    [ -n "$row" ] || { say "no user-mode QEMU is called $1; there are:" $(echo "$user_versions" | awk '{ print $1 }'); exit 2; }
    final=$cache/$1 new=$cache/.$1.new work=$cache/.$1.work
    # One that an older release of this machine has built may want libraries that are gone.
    if [ "$(cat "$final/layout" 2>/dev/null)" = "$user_layout" ] && "$final/qemu-x86_64" --version >/dev/null 2>&1; then
        say "user-mode QEMU $(cat "$final/version") in $final"
        return 0
    fi
    reason=$(apt_trouble)
    lacks=$(user_lacks)
    [ -z "$lacks" ] || reason="$lacks is missing: run scripts/setup --what qemu"
    if [ -z "$reason" ]; then
        say "building a user-mode QEMU from the source in Debian's ${row#* } (40 MB; some minutes, 1 GB of disk for that time)"
        rm -rf "$work"
        mkdir -p "$work"
        reason='the disk is full'
        # shellcheck disable=SC2086
        if user_fetch ${row#* } >"$work.log" 2>&1 && user_configure >>"$work.log" 2>&1 && user_build && user_install
        then
            rm -rf "$work" "$work.log" "$cache/$1.reason"
            say "user-mode QEMU $version in $final"
            return 0
        fi
        rm -rf "$work"
    fi
    echo "$reason" >"$cache/$1.reason"
    say "no user-mode QEMU: $reason"
    return 1
}
