# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Packages of other Debian releases, fetched without root and without installing anything: for
# scripts that set `work`, a folder of their own, and source this.

# The mirror in this machine's apt sources, or GUESTTRACE_DEBIAN_MIRROR; nothing: there is none.
mirror() {
    if [ -n "${GUESTTRACE_DEBIAN_MIRROR:-}" ]; then
        echo "$GUESTTRACE_DEBIAN_MIRROR"
        return
    fi
    # apt itself reads both kinds of source files; a plain release name leaves security archives out.
    apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' \
        'Created-By: Packages' 2>/dev/null |
        awk '$1 !~ /security/ && $2 ~ /^(bookworm|trixie|forky|duke|sid|stable|testing|unstable|oldstable)$/ {
                 print $1; exit }'
}

# Debian's archive keys: the file's name differs between releases.
keyring() {
    for k in /usr/share/keyrings/debian-archive-keyring.gpg \
             /usr/share/keyrings/debian-archive-keyring.pgp; do
        [ -r "$k" ] && { echo "$k"; return; }
    done
    return 0
}

# Why nothing can be fetched here; nothing: it can.
apt_trouble() {
    if ! { command -v apt-get && command -v dpkg-deb; } >/dev/null; then
        echo 'this system has no apt'
    elif [ -z "$(mirror)" ]; then
        echo 'no Debian mirror in the apt sources (GUESTTRACE_DEBIAN_MIRROR=URL names one)'
    elif [ -z "$(keyring)" ]; then
        echo 'no Debian archive keys in /usr/share/keyrings (package debian-archive-keyring)'
    fi
}

# apt_setup DEBIAN-ARCH RELEASE...: an apt below $work that knows only these suites, prefers the last
# one and believes nothing is installed, so that what it downloads for a package is everything the
# package needs.
apt_setup() {
    debian_arch=$1
    shift
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/none"
    : >"$work/status"
    for last in "$@"; do :; done
    for s in "$@"; do
        echo "deb [arch=$debian_arch signed-by=$(keyring)] $(mirror) $s main"
    done | sort -u >"$work/sources.list"
    cat >"$work/apt.conf" <<CONF
Dir::State "$work";
Dir::State::Lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::Archives "$work/archives";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "$work/none";
Dir::Etc::Preferences "$work/none/preferences";
Dir::Etc::PreferencesParts "$work/none";
Dir::Log "$work";
#clear APT::Architectures;
APT::Architecture "$debian_arch";
APT::Architectures { "$debian_arch"; };
APT::Default-Release "$last";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
APT::Keep-Downloaded-Packages "true";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "15";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
CONF
}

# apt_add_source RELEASE: that apt knows the release's source packages, too.
apt_add_source() {
    echo "deb-src [signed-by=$(keyring)] $(mirror) $1 main" >>"$work/sources.list"
}

# apt TOOL ARGUMENTS...: of that apt.
apt() {
    tool=$1
    shift
    "$tool" -c "$work/apt.conf" "$@"
}
