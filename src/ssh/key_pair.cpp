// SPDX-License-Identifier: Apache-2.0
#include "ssh/key_pair.hpp"

#include "base/text.hpp"
#include "os/identity.hpp"

#include <unistd.h>

namespace ponk::ssh {
namespace {

// What both scripts share. A file of keys lets people in, also others than us: it is never written
// in place, but a whole copy is made beside it, looked at, and given its name, so that a full disk
// or a cut leaves it as it was. A link is followed: who keeps that file elsewhere keeps it there.
// The lock is among ponks of several machines; what else may have written is seen before the
// exchange.
constexpr const char* key_file_script = R"sh(
set -eu
umask 077
complain() { echo "$1" >&2; exit "${2:-3}"; }
cd "$HOME" || complain "there is no home folder '$HOME'"
file=.ssh/authorized_keys kept=
trap '[ -z "$kept" ] || rm -f "$kept"' EXIT
lock() {
    if command -v flock >/dev/null 2>&1; then exec 9<.ssh; flock -w 20 9 2>/dev/null || :; fi
}
# Makes $kept, a copy of the file with its rights; it ends with a newline.
copy() {
    if [ -L "$file" ]; then
        real=$(readlink -f "$file") && [ -n "$real" ] || complain "the link '$HOME/$file' leads nowhere"
    else
        real=$HOME/$file
    fi
    kept=$(mktemp "${real%/*}/.ponk-XXXXXX")
    if [ -e "$real" ]; then
        before=$(cksum < "$real")
        cp -p "$real" "$kept"
        cmp -s "$real" "$kept" || complain "'$real' could not be copied: is the disk full?"
        if [ -n "$(tail -c 1 "$kept" | tr -d '\n')" ]; then echo >> "$kept"; fi
    else
        before=
    fi
}
publish() {
    now=
    [ ! -e "$real" ] || now=$(cksum < "$real")
    [ "$now" = "$before" ] || complain "another program changed '$real' at the same moment; try again"
    mv -f "$kept" "$real"
    kept=
    if command -v restorecon >/dev/null 2>&1; then restorecon -F .ssh "$real" >/dev/null 2>&1 || :; fi
}
lines() { grep -c "$@" || [ $? -eq 1 ]; }
)sh";

// `take` gives the line and the key in it.
constexpr const char* install_script = R"sh(
take; line=$value
take; blob=$value
mkdir -p .ssh
lock
if [ ! -e "$file" ] || ! grep -qF -- "$blob" "$file"; then
    copy
    printf '%s\n' "$line" >> "$kept"
    [ "$(tail -n 1 "$kept")" = "$line" ] || complain "the line could not be written: is the disk full?"
    publish
fi
chmod 700 .ssh
chmod 600 "$file"
grep -qF -- "$blob" "$file"
)sh";

constexpr const char* remove_script = R"sh(
take; blob=$value
[ -e "$file" ] || exit 0
lock
ours=$(lines -F -e "$blob" "$file")
[ "$ours" -gt 0 ] || exit 0
copy
all=$(lines '' "$kept")
full=$kept
kept=$(mktemp "${real%/*}/.ponk-XXXXXX")
trap 'rm -f "$full"; [ -z "$kept" ] || rm -f "$kept"' EXIT
cp -p "$full" "$kept"
grep -vF -e "$blob" "$full" > "$kept" || [ $? -eq 1 ] || complain "the other keys could not be written: is the disk full?"
[ "$(lines '' "$kept")" -eq "$((all - ours))" ] || complain "the other keys could not be written: is the disk full?"
publish
! grep -qF -- "$blob" "$file"
)sh";

// "AAAA…" of a line: what tells keys apart.
std::string blob_of(const std::string& line)
{
    for (const auto& word : split(line, ' ')) {
        if (word.starts_with("AAAA")) return word;
    }
    return {};
}

Result<> require_success(const os::Output& output, const Address& address, const char* what)
{
    if (output.exit.status() == 0) return {};
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("{} on '{}' failed: {}",
                          what,
                          address.text(),
                          output.err.empty() ? fmt::format("exit code {}", output.exit.status())
                                             : printable(trim(output.err))),
              "Is the home folder there writable, and has the disk space left?"));
}

}  // namespace

Result<std::string> make_key_pair(const Client& client, Deadline deadline, std::stop_token stop)
{
    const auto& folder = client.folder();
    if (::access(folder.key().c_str(), R_OK) != 0 ||
        ::access(folder.public_key().c_str(), R_OK) != 0) {
        ::unlink(folder.key().c_str());
        ::unlink(folder.public_key().c_str());
        const auto comment = fmt::format(
            "ponk of {} on {} for {}", os::user_name(), os::host_name(), client.address().text());
        const auto output = TRY(os::run(
            {.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", "./key"},
             .env = client.environment(),
             .directory = folder.path()},
            deadline,
            stop));
        if (output.exit.status() != 0) {
            return fail(
                ErrorKind::internal, "ssh-keygen created no key: {}", printable(trim(output.err)));
        }
    }
    const auto text = TRY(os::read_file(folder.public_key(), 16 << 10));
    const auto line = "restrict " + std::string(trim(text));
    if (blob_of(line).empty())
        return fail(ErrorKind::damaged, "{} contains no key", os::in_quotes(folder.public_key()));
    return line;
}

Result<> install_key(Connection& connection,
                     const std::string& line,
                     Deadline deadline,
                     std::stop_token stop)
{
    const auto output = TRY(connection.run(std::string(key_file_script) + install_script,
                                           {line, blob_of(line)},
                                           deadline,
                                           std::move(stop)));
    return require_success(output, connection.address(), "adding the key");
}

Result<>
remove_key(Connection& connection, const std::string& line, Deadline deadline, std::stop_token stop)
{
    const auto blob = blob_of(line);
    if (blob.empty()) return fail(ErrorKind::invalid_argument, "there is no key to remove");
    const auto output = TRY(connection.run(
        std::string(key_file_script) + remove_script, {blob}, deadline, std::move(stop)));
    return require_success(output, connection.address(), "removing the key");
}

bool is_public_key(std::string_view text)
{
    const auto first = text.substr(0, text.find('\n'));
    for (const std::string_view type : {"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"}) {
        if (first.starts_with(type) && first.find(" AAAA") != std::string_view::npos) return true;
    }
    return text.starts_with("---- BEGIN SSH2 PUBLIC KEY");
}

Result<KeyFile> inspect_key_file(const Client& client,
                                 const os::Path& file,
                                 Deadline deadline,
                                 std::stop_token stop)
{
    if (::access(file.c_str(), R_OK) != 0)
        return fail_errno(errno, "private key {}", os::in_quotes(file));
    if (const auto text = os::read_file(file, 1 << 16); text && is_public_key(*text)) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("{} is a public key, not the private one", os::in_quotes(file)),
                  file.extension() == ".pub"
                      ? fmt::format("Name the private file: {}.",
                                    os::in_quotes(os::Path(file).replace_extension()))
                      : "Name the private file: it begins with '-----BEGIN'."));
    }
    // The empty passphrase is no secret.
    const auto output = TRY(os::run({.argv = {"ssh-keygen", "-y", "-P", "", "-f", file.string()},
                                     .env = client.environment(),
                                     .directory = "/",
                                     .session = os::Command::Session::own},
                                    deadline,
                                    std::move(stop)));
    if (output.exit.status() == 0) return KeyFile::open;
    if (output.err.find("passphrase") != std::string::npos) return KeyFile::has_passphrase;
    const bool rights = output.err.find("UNPROTECTED") != std::string::npos;
    return tl::unexpected(Error(
        ErrorKind::invalid_argument,
        rights ? fmt::format("private key {} can be read by others", os::in_quotes(file))
               : fmt::format("{} is not a private key that ssh can use", os::in_quotes(file)),
        rights ? fmt::format("Run 'chmod 600 {}'.", shell_word(file.string()))
               : "Name the private file, not the one ending in '.pub'; keys of PuTTY are converted "
                 "by 'puttygen FILE -O private-openssh'."));
}

}  // namespace ponk::ssh
