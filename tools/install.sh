#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/install.sh install|remove PONK DESTDIR PREFIX AZ
# Puts the binary, its man pages, completions and the samples below DESTDIR/PREFIX, or takes them away
# again. Pages and completions come out of the binary, so what is installed always fits; nothing of
# the source tree is needed afterwards.
set -euo pipefail
action=$1 ponk=$2 prefix=$4 az=$5
root=$3$prefix
bash_file=$root/share/bash-completion/completions/ponk
zsh_file=$root/share/zsh/site-functions/_ponk
fish_file=$root/share/fish/vendor_completions.d/ponk.fish
samples=$root/share/ponk/samples
# The completion of the name az beside ours. Where the real az has brought one, its package owns that name.
az_file() { dirname "$1" | tr -d '\n'; basename "$1" | sed 's|^|/|; s/ponk/az/'; }
source=$(cd "$(dirname "$0")/.." && pwd)

as_root=()
probe=$root
while [[ ! -e $probe ]]; do probe=$(dirname "$probe"); done
if [[ ! -w $probe ]]; then
    echo "'$probe' belongs to another user: using sudo" >&2
    as_root=(sudo)
fi

if [[ $action == remove ]]; then
    "${as_root[@]}" rm -f "$root/bin/ponk" "$bash_file" "$zsh_file" "$fish_file" "$root"/share/man/man1/ponk.1 \
        "$root"/share/man/man1/ponk-*.1
    "${as_root[@]}" rm -rf "$root/share/ponk" "$root/lib/ponk"
    if [[ $(readlink "$root/bin/az" 2>/dev/null || true) == ponk ]]; then
        "${as_root[@]}" rm -f "$root/bin/az" "$(az_file "$bash_file")" "$(az_file "$zsh_file")" "$(az_file "$fish_file")"
    fi
    echo "Removed ponk from $root"
    exit 0
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/man1"
"$ponk" man --all-to "$stage/man1" 2>/dev/null
for shell in bash zsh fish; do "$ponk" completion "$shell" >"$stage/$shell"; done
cp "$ponk" "$stage/ponk"
strip "$stage/ponk"

"${as_root[@]}" install -D -m 755 "$stage/ponk" "$root/bin/ponk"
# Programs for machines of other kinds, where they were built.
for host in "$source"/build/box-*/ponk-agent; do
    [[ -f $host ]] || continue
    kind=$(basename "$(dirname "$box")")
    "${as_root[@]}" install -D -m 755 "$box" "$root/lib/ponk/ponk-$kind"
done
"${as_root[@]}" install -D -m 644 "$stage/bash" "$bash_file"
"${as_root[@]}" install -D -m 644 "$stage/zsh" "$zsh_file"
"${as_root[@]}" install -D -m 644 "$stage/fish" "$fish_file"
"${as_root[@]}" install -d "$root/share/man/man1"
"${as_root[@]}" install -m 644 "$stage"/man1/*.1 "$root/share/man/man1/"
"${as_root[@]}" rm -rf "$samples"
(cd "$source/samples" && find . -type f -not -path '*/outputs/*' -not -path '*/__pycache__/*' -print0) |
    while IFS= read -r -d '' file; do
        "${as_root[@]}" install -D -m 644 "$source/samples/$file" "$samples/$file" </dev/null
    done
if [[ $az == 1 ]]; then
    if [[ -e $root/bin/az && $(readlink "$root/bin/az" || true) != ponk ]]; then
        echo "'$root/bin/az' is another program and was kept; no link was created" >&2
    else
        "${as_root[@]}" ln -sfn ponk "$root/bin/az"
        for shell in bash zsh fish; do "$ponk" completion "$shell" --for az >"$stage/az.$shell"; done
        "${as_root[@]}" install -m 644 "$stage/az.bash" "$(az_file "$bash_file")"
        "${as_root[@]}" install -m 644 "$stage/az.zsh" "$(az_file "$zsh_file")"
        "${as_root[@]}" install -m 644 "$stage/az.fish" "$(az_file "$fish_file")"
    fi
fi
echo "Installed $root/bin/ponk, $(ls "$stage/man1" | wc -l) man pages, completions for bash, zsh and fish, and the samples"
if [[ -z $3 && :$PATH: != *:$root/bin:* ]]; then
    echo "'$root/bin' is not on your PATH. Run this, and add it to ~/.profile:"
    echo "    export PATH=\"$root/bin:\$PATH\""
fi
[[ $az == 1 ]] || echo "To install the name az for old 'az ml' commands: make install AZ=1"
