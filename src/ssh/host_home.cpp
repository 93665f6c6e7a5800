// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_home.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::ssh {
namespace {

// A scratch folder is often everybody's: whoever comes first can make what has our name in it, with
// a program of theirs inside, and whoever owns or may write to a folder above ours can put another
// one in its place between our look and our use. So names are taken without links, and every folder
// on the way must be kept: of us or root, and open to others only where the sticky bit protects
// what is not theirs. Trust begins at the home folder: who can exchange that one has our shell's
// start-up files already. The shell splits what `ls` says: rights, links, owner.
constexpr const char* checks = R"sh(
u=$(id -u)
refuse() { printf 'ponk-agent: %s\n%s\n' "$1" "$2" >&2; exit 1; }
owner_of() { set -- $(LC_ALL=C ls -ldn "$@" 2>/dev/null); rights=${1-} owner=${3-}; }
require_owner() {
    [ "$owner" = "$u" ] || [ "$owner" = 0 ] ||
        refuse "'$1' belongs to another user (uid $owner), who may have changed its content" \
            "Name another folder as 'scratch:' in the target's file, or ask that user or the machine's owner to remove it."
}
require_ours() {
    owner_of "$1"
    [ -n "$rights" ] || refuse "'$1' cannot be checked" "Check it on that machine: 'ls -ld'."
    require_owner "$1"
    owner_of -L "$1"
    [ -n "$rights" ] || refuse "'$1' is a link that leads nowhere" "Remove it on that machine."
    require_owner "$1"
    case "$rights" in
    ?????w*|????????w*)
        refuse "'$1' can be written to by others ($rights)" \
            "Check its content, then make it private: 'chmod go-w' on that machine." ;;
    esac
}
whole() { (unset CDPATH; cd -P -- "$1" 2>/dev/null && pwd -P); }
require_kept() {
    kept=${1:-/} top=$(whole "${HOME:-/}") || top=/
    while [ "$kept" != "$top" ]; do
        owner_of "$kept"
        [ -n "$rights" ] || refuse "'$kept' cannot be checked" "Check it on that machine: 'ls -ld'."
        [ "$owner" = "$u" ] || [ "$owner" = 0 ] ||
            refuse "'$kept' belongs to another user (uid $owner), who can replace its content" \
                "Name a folder as 'scratch:' in the target's file that lies in folders of yours or root's only."
        case "$rights" in
        ?????????[tT]*) ;;
        ?????w*|????????w*)
            refuse "others can replace the content of '$kept' ($rights)" \
                "Make it a folder of your own ('chmod go-w' on that machine), or one like /tmp ('chmod +t')." ;;
        esac
        [ "$kept" != / ] || return 0
        kept=${kept%/*}
        kept=${kept:-/}
    done
    owner_of "$kept"
    case "$rights" in
    ?????????[tT]*) ;;
    ????????w*)
        refuse "everybody can replace the content of '$kept' ($rights)" "Make it private: 'chmod o-w' on that machine." ;;
    esac
}
require_home() {
    require_kept "${h%/*}"
    require_ours "$h"
    [ -L "$h" ] || return 0
    l=$h
    h=$(whole "$h") || refuse "'$l' does not lead to a folder that can be entered" "Check it on that machine: 'ls -ldL'."
    require_kept "${h%/*}"
    require_ours "$h"
}
)sh";

}  // namespace

std::string find_host_home(const std::string& scratch)
{
    return fmt::format("h={}\n", shell_word(scratch)) + checks + R"sh(
l=
case "$h" in
    "") d=$HOME n=.ponk ;;
    "~/"*) d=$HOME/${h#??} n=ponk-$u ;;
    /*) d=$h n=ponk-$u ;;
    *) d=$HOME/$h n=ponk-$u ;;
esac
find_home() {
    h=$(whole "$d") || return 1
    h=${h%/}/$n
}
if find_home; then
    require_kept "${h%/*}"
    if [ -e "$h" ] || [ -L "$h" ]; then require_home; fi
elif [ -e "$d" ] || [ -L "$d" ]; then
    refuse "'$d' is not a folder that can be entered" "Check it on that machine: 'ls -ldL'."
else
    h=$d/$n
fi
)sh";
}

std::string make_host_home()
{
    return R"sh(
umask 077
mkdir -p "$d" && find_home || exit 1
require_kept "${h%/*}"
mkdir "$h" 2>/dev/null || [ -d "$h" ] || mkdir "$h" || exit 1
require_home
mkdir -p "$h/bin" || exit 1
require_ours "$h/bin"
)sh";
}

}  // namespace ponk::ssh
