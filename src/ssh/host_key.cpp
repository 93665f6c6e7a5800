// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_key.hpp"

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "ssh/failure.hpp"
#include "ssh/offending_key.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::ssh {
namespace {

using std::chrono::seconds;

// Each family by the algorithms that use its keys.
constexpr const char* families[] = {"ssh-ed25519",
                                    "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
                                    "rsa-sha2-512,rsa-sha2-256,ssh-rsa"};

std::string fingerprint_of(std::string_view blob)
{
    const auto digest = sha256(blob);
    auto text =
        to_base64({reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()});
    while (text.ends_with('='))
        text.pop_back();
    return "SHA256:" + text;
}

std::optional<HostKey> parse_line(std::string_view line)
{
    std::vector<std::string> words;
    for (auto& word : split(trim(line), ' ')) {
        if (!word.empty()) words.push_back(std::move(word));
    }
    if (words.size() < 3 || words[0].starts_with('#') || words[0].starts_with('@'))
        return std::nullopt;
    const auto blob = from_base64(words[2]);
    if (!blob || blob->empty()) return std::nullopt;
    return HostKey{words[0],
                   words[1],
                   fingerprint_of(*blob),
                   fmt::format("{} {} {}", words[0], words[1], words[2])};
}

// A file in the host's folder that goes with the scope.
class Scratch {
public:
    explicit Scratch(const HostFolder& folder)
        : name_("learned-" + to_hex(random_bytes(4))), path_(folder.path() / name_)
    {
    }
    ~Scratch() { ::unlink(path_.c_str()); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const os::Path& path() const { return path_; }

private:
    std::string name_;
    os::Path path_;
};

}  // namespace

std::string HostKey::short_type() const
{
    if (type == "ssh-ed25519") return "ED25519";
    if (type == "ssh-rsa") return "RSA";
    if (type.starts_with("ecdsa-")) return "ECDSA";
    return type;
}

std::vector<HostKey> parse_known_hosts(std::string_view text)
{
    std::vector<HostKey> keys;
    for (const auto& line : split(text, '\n')) {
        if (auto key = parse_line(line)) keys.push_back(std::move(*key));
    }
    return keys;
}

std::optional<std::string> parse_fingerprint(std::string_view text)
{
    text = trim(text);
    if (text.starts_with("SHA256:")) text.remove_prefix(7);
    while (text.ends_with('='))
        text.remove_suffix(1);
    const auto bytes = from_base64(text);
    if (text.size() != 43 || !bytes || bytes->size() != 32) return std::nullopt;
    return "SHA256:" + std::string(text);
}

tl::expected<void, Refusal>
check_host_key(const Client& client, Deadline deadline, std::stop_token stop)
{
    const auto command = client.command({"ControlMaster=no",
                                         "ControlPath=none",
                                         "BatchMode=yes",
                                         "PubkeyAuthentication=no",
                                         "PreferredAuthentications=none"},
                                        "exit");
    const auto output = os::run(command, deadline, std::move(stop));
    if (!output) {
        const bool late = output.error().kind() == ErrorKind::timeout;
        const bool absent = output.error().kind() == ErrorKind::not_found;
        if (!late && !absent) return tl::unexpected(Refusal{Cause::other, output.error()});
        const auto cause = late ? Cause::timed_out : Cause::no_client;
        return tl::unexpected(Refusal{cause, error_of(cause, client.address(), {})});
    }
    const auto cause = find_cause(output->err);
    if (output->exit.status() == 0 || cause == Cause::denied) return {};
    const auto known = cause == Cause::host_key_changed
                           ? offending_key(output->err, client.folder().path())
                           : std::string();
    return tl::unexpected(Refusal{cause, error_of(cause, client.address(), output->err, known)});
}

Result<HostKey> learn_host_key(const Client& client,
                               const std::string& algorithms,
                               Deadline deadline,
                               std::stop_token stop)
{
    const Scratch scratch(client.folder());
    std::vector<std::string> options{"ControlMaster=no",
                                     "ControlPath=none",
                                     "BatchMode=yes",
                                     "StrictHostKeyChecking=accept-new",
                                     "UserKnownHostsFile=" + scratch.name(),
                                     "GlobalKnownHostsFile=/dev/null",
                                     "HashKnownHosts=no",
                                     "CheckHostIP=no",
                                     "PubkeyAuthentication=no",
                                     "PreferredAuthentications=none"};
    if (!algorithms.empty()) options.push_back("HostKeyAlgorithms=" + algorithms);
    // A host that lets everybody in gets nothing to do.
    const auto output = os::run(client.command(options, "exit"), deadline, std::move(stop));
    if (!output) {
        if (output.error().kind() == ErrorKind::timeout)
            return tl::unexpected(error_of(Cause::timed_out, client.address(), {}));
        if (output.error().kind() == ErrorKind::not_found)
            return tl::unexpected(error_of(Cause::no_client, client.address(), {}));
        return tl::unexpected(output.error());
    }
    const auto text = TRY(os::read_file_if_any(scratch.path(), largest_known_hosts)).value_or("");
    const auto keys = parse_known_hosts(text);
    if (keys.empty()) return tl::unexpected(error_from(client.address(), output->err));
    return keys.front();
}

Result<HostKey> learn_matching_key(const Client& client,
                                   const std::string& fingerprint,
                                   Deadline deadline,
                                   std::stop_token stop)
{
    std::vector<HostKey> seen;
    std::optional<Error> last;
    for (const char* family : families) {
        auto key = learn_host_key(client, family, deadline, stop);
        if (!key) {
            // A host need not have a key of each family.
            if (find_cause(key.error().message()) != Cause::algorithms && seen.empty() &&
                key.error().message().find("no algorithm in common") == std::string::npos)
                return tl::unexpected(key.error());
            last = key.error();
            continue;
        }
        if (key->fingerprint == fingerprint) return key;
        seen.push_back(std::move(*key));
    }
    if (seen.empty() && last) return tl::unexpected(*last);
    std::vector<std::string> shown;
    for (const auto& key : seen)
        shown.push_back(key.short_type() + " " + key.fingerprint);
    return tl::unexpected(Error(
        ErrorKind::conflict,
        fmt::format("'{}' has no host key with the fingerprint '{}'; it shows {}",
                    client.address().text(),
                    fingerprint,
                    join(shown, ", ")),
        "Either the fingerprint belongs to another machine, or the connection is intercepted. On "
        "the machine itself, 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub' prints it."));
}

Result<std::vector<KnownKey>> find_known_keys(const Client& client,
                                              const Resolved& resolved,
                                              const std::string& name,
                                              Deadline deadline,
                                              std::stop_token stop)
{
    std::vector<std::string> files{client.folder().known_hosts().string()};
    files.insert(files.end(), resolved.known_hosts.begin(), resolved.known_hosts.end());
    files.insert(files.end(), resolved.host_files.begin(), resolved.host_files.end());
    std::vector<KnownKey> known;
    for (const auto& file : files) {
        if (::access(file.c_str(), R_OK) != 0) continue;
        os::Command command{.argv = {"ssh-keygen", "-F", name, "-f", file},
                            .env = client.environment(),
                            .directory = client.folder().path()};
        const auto output = TRY(os::run(command, deadline, stop));
        for (auto& key : parse_known_hosts(output.out))
            known.push_back({std::move(key), file});
    }
    return known;
}

Error changed_key_error(const Client& client,
                        const HostKey& shown,
                        const std::vector<KnownKey>& known)
{
    const auto& address = client.address();
    std::string expected;
    std::string foreign;
    for (const auto& [key, file] : known) {
        expected += fmt::format("{}{} {} (in '{}')",
                                expected.empty() ? "" : ", ",
                                key.short_type(),
                                key.fingerprint,
                                file);
        if (file != client.folder().known_hosts().string()) foreign = file;
    }
    std::string hint = "Either the connection is intercepted, or the machine was reinstalled: ask "
                       "its owner for the fingerprint of the new key. If it is right, 'ponk "
                       "computetarget check TARGET --fingerprint " +
                       shown.fingerprint + "' accepts it.";
    if (!foreign.empty())
        hint += fmt::format(" 'ssh-keygen -R {} -f {}' forgets the old key in your own file.",
                            shell_word(shown.name),
                            shell_word(foreign));
    return {ErrorKind::conflict,
            fmt::format("the host key of '{}' changed: it shows {} {}, known is {}; nothing was "
                        "sent to it",
                        address.text(),
                        shown.short_type(),
                        shown.fingerprint,
                        expected),
            std::move(hint)};
}

Result<> remember_host_key(const HostFolder& folder, const HostKey& key)
{
    return os::replace_file(folder.known_hosts(), key.line + "\n", 0600);
}

}  // namespace ponk::ssh
