// SPDX-License-Identifier: Apache-2.0
#include "ssh/box_home.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::ssh {
namespace {

// A scratch folder is often everybody's: whoever comes first can make what has our name in it, with
// a program of theirs inside. A link counts as what it leads to, if nobody else can turn it. The
// shell splits what `ls` says: rights, links, owner.
constexpr const char* checks = R"sh(
u=$(id -u)
refuse() { printf 'ponk-box: %s\n%s\n' "$1" "$2" >&2; exit 1; }
owner_of() { set -- $(LC_ALL=C ls -ldn "$@" 2>/dev/null); rights=${1-} owner=${3-}; }
require_owner() {
    [ "$owner" = "$u" ] || [ "$owner" = 0 ] ||
        refuse "'$1' belongs to another user (uid $owner), who may have put anything there" \
            "Name another folder as 'scratch:' in the target's file, or ask that user or the machine's owner to remove it."
}
require_ours() {
    owner_of "$1"
    [ -n "$rights" ] || refuse "'$1' cannot be looked at" "Look at it on that machine: 'ls -ld'."
    require_owner "$1"
    owner_of -L "$1"
    require_owner "$1"
    case "$rights" in
    ?????w*|????????w*)
        refuse "'$1' can be written to by others ($rights)" \
            "Look into it, then make it yours alone: 'chmod go-w' on that machine." ;;
    esac
}
require_kept() {
    owner_of -L "$1"
    case "$rights" in
    ????????w[tT]*) ;;
    ????????w*)
        refuse "everybody can exchange what is in '$1' ($rights)" \
            "Make it a folder of your own, or one like /tmp: 'chmod +t' on that machine." ;;
    esac
}
)sh";

}  // namespace

std::string find_box_home(const std::string& scratch)
{
    return fmt::format("h={}\n", shell_word(scratch)) + checks + R"sh(
case "$h" in
    "") h=$HOME/.ponk ;;
    "~/"*) h=$HOME/${h#??}/ponk-$u ;;
    /*) h=$h/ponk-$u ;;
    *) h=$HOME/$h/ponk-$u ;;
esac
if [ -e "$h" ] || [ -L "$h" ]; then
    require_kept "${h%/*}"
    require_ours "$h"
fi
)sh";
}

std::string make_box_home()
{
    return R"sh(
umask 077
mkdir -p "${h%/*}" || exit 1
require_kept "${h%/*}"
mkdir "$h" 2>/dev/null || [ -d "$h" ] || mkdir "$h" || exit 1
require_ours "$h"
mkdir -p "$h/bin" || exit 1
require_ours "$h/bin"
)sh";
}

}  // namespace ponk::ssh
