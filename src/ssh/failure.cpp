// SPDX-License-Identifier: Apache-2.0
#include "ssh/failure.hpp"

#include "base/advice.hpp"
#include "base/text.hpp"

namespace ponk::ssh {
namespace {

struct Sign {
    std::string_view text;
    Cause cause;
};

// In order: the first that is found counts. A jump host's failure is followed by our own ssh's
// complaint that its way was closed, so the particular stands before the general.
constexpr Sign signs[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", Cause::host_key_changed},
    {"differs from the key for the IP address", Cause::host_key_changed},
    {"is marked as revoked", Cause::host_key_changed},
    {"host key is known for", Cause::host_key_unknown},
    {"Host key verification failed", Cause::host_key_unknown},
    {"stdio forwarding failed", Cause::jump_failed},
    {"Could not resolve hostname", Cause::unresolved},
    {"Connection refused", Cause::refused},
    {"No route to host", Cause::unreachable},
    {"Network is unreachable", Cause::unreachable},
    {"timed out", Cause::timed_out},
    {"Timeout, server", Cause::timed_out},
    {"incorrect passphrase", Cause::key_unusable},
    {"UNPROTECTED PRIVATE KEY FILE", Cause::key_unusable},
    {"invalid format", Cause::key_unusable},
    {"Unable to negotiate", Cause::algorithms},
    {"no matching", Cause::algorithms},
    {"Too many authentication failures", Cause::denied},
    {"Permission denied", Cause::denied},
    {"not accessible: No such file", Cause::key_unusable},
    {"Connection closed", Cause::closed},
    {"Connection reset", Cause::closed},
    {"closed by remote host", Cause::closed},
    {"Broken pipe", Cause::closed},
    {"kex_exchange_identification", Cause::closed},
    {"banner exchange", Cause::closed},
    {"Control socket connect", Cause::closed},
    {"mux_client", Cause::closed},
};

// The last line says most; banners and notices of the host come before it.
std::string last_line(std::string_view said)
{
    std::string last;
    for (const auto& line : split(said, '\n')) {
        if (!trim(line).empty()) last = std::string(trim(line));
    }
    return printable(last);
}

bool came_through_jump(std::string_view said)
{
    return said.find("UNKNOWN port 65535") != std::string_view::npos;
}

// "SHA256:…" that the machine shows now, as ssh reports a changed key; empty when it does not.
std::string shown_fingerprint(std::string_view said)
{
    const auto begin = said.find("SHA256:");
    if (begin == std::string_view::npos) return {};
    const auto rest = said.substr(begin);
    auto text = rest.substr(0, rest.find_first_of(" \t\r\n"));
    if (text.ends_with('.')) text.remove_suffix(1);
    return printable(text);
}

// Both keys, as far as they are known: the new one, and the old one.
std::string keys_text(std::string_view said, std::string_view known)
{
    std::string text;
    if (const auto shown = shown_fingerprint(said); !shown.empty())
        text = fmt::format(": it shows {}", shown);
    if (!known.empty()) text += fmt::format("{} known is {}", text.empty() ? ":" : ",", known);
    return text;
}

bool is_our_loss(std::string_view line)
{
    return came_through_jump(line) || line.find("kex_exchange_identification") == 0 ||
           line.find("stdio forwarding failed") != std::string_view::npos;
}

// What the ssh to the jump host said last, before ours lost its way.
std::string jump_line(std::string_view said)
{
    std::string own;
    for (const auto& line : split(said, '\n')) {
        if (!trim(line).empty() && !is_our_loss(trim(line))) own = printable(trim(line));
    }
    return own.empty() ? last_line(said) : own;
}

Error jump_error(const Address& address, std::string_view said)
{
    const auto line = jump_line(said);
    const auto has = [&](std::string_view words) { return line.find(words) != std::string::npos; };
    auto advice =
        fmt::format("Try 'ssh {}' by hand: it asks the jump host's questions.", address.host);
    if (has("ost key"))
        advice = fmt::format("The jump host's own key is not the one that is known, or not known "
                             "yet: 'ssh {}' by hand shows it and asks.",
                             address.host);
    if (has("Permission denied") || has("authentication failures"))
        advice = fmt::format(
            "The jump host refused the login: set its key as 'IdentityFile' in ~/.ssh/config, or "
            "load the key with 'ssh-add'; 'ssh {}' must work without a question.",
            address.host);
    if (has("open failed"))
        advice = fmt::format("The jump host was reached but not '{}' from there: is it on, and is "
                             "its name one that the jump host knows?",
                             address.host);
    return {ErrorKind::unavailable,
            fmt::format("the jump host on the way to '{}' failed: {}", address.text(), line),
            std::move(advice)};
}

std::string denied_text(const Address& address, std::string_view said)
{
    const auto methods = offered_methods(said);
    return fmt::format("'{}' refused the login: the user, password or key is wrong{}",
                       address.text(),
                       methods.empty() ? "" : fmt::format(" (it accepts: {})", printable(methods)));
}

}  // namespace

const char* to_string(Cause cause)
{
    switch (cause) {
    case Cause::unresolved:
        return "unresolved";
    case Cause::refused:
        return "refused";
    case Cause::unreachable:
        return "unreachable";
    case Cause::timed_out:
        return "timed out";
    case Cause::host_key_changed:
        return "host key changed";
    case Cause::host_key_unknown:
        return "host key unknown";
    case Cause::denied:
        return "denied";
    case Cause::key_unusable:
        return "key unusable";
    case Cause::algorithms:
        return "algorithms";
    case Cause::jump_failed:
        return "jump failed";
    case Cause::closed:
        return "closed";
    case Cause::no_client:
        return "no client";
    case Cause::killed:
        return "killed";
    case Cause::other:
        return "other";
    }
    return "other";
}

Cause find_cause(std::string_view said)
{
    for (const auto& sign : signs) {
        if (said.find(sign.text) == std::string_view::npos) continue;
        // Said by the ssh that goes to the jump host; ours only lost its way.
        const bool by_jump = came_through_jump(said);
        return by_jump ? Cause::jump_failed : sign.cause;
    }
    return Cause::other;
}

std::string offered_methods(std::string_view said)
{
    constexpr std::string_view mark = "Permission denied (";
    const auto begin = said.rfind(mark);
    if (begin == std::string_view::npos) return {};
    const auto rest = said.substr(begin + mark.size());
    return std::string(rest.substr(0, rest.find(')')));
}

Error name_target(const Error& error, const std::string& target)
{
    if (target.empty()) return error;
    const auto checked = fill_in_advice(error,
                                        "computetarget check TARGET ",
                                        fmt::format("computetarget check {} ", shell_word(target)));
    return fill_in_advice(checked,
                          "aml_config/TARGET.compute",
                          shell_word(fmt::format("aml_config/{}.compute", printable(target))));
}

Error error_of(Cause cause, const Address& address, std::string_view said, std::string_view known)
{
    const auto name = address.text();
    const auto port = address.port.value_or(22);
    using Kind = ErrorKind;
    switch (cause) {
    case Cause::unresolved:
        return {Kind::unavailable,
                fmt::format("no machine is called '{}'", address.host),
                "Check the name, or give its IP address; an alias of ~/.ssh/config works too."};
    case Cause::refused:
        return {Kind::unavailable,
                fmt::format("'{}' refuses connections on port {}", address.host, port),
                fmt::format("Is sshd running there ('sudo systemctl start ssh'), and on that port? "
                            "'--address {}:PORT' names another.",
                            address.host)};
    case Cause::unreachable:
        return {Kind::unavailable,
                fmt::format("there is no route to '{}': {}", address.host, last_line(said)),
                "Is the machine on, and are you in its network (VPN)?"};
    case Cause::timed_out:
        return {Kind::unavailable,
                fmt::format("'{}' does not answer on port {}", address.host, port),
                "Is the machine on, is the address right, and does its firewall let you through?"};
    case Cause::host_key_changed:
        return {
            Kind::conflict,
            fmt::format("the host key of '{}' is not the one that is known{}",
                        name,
                        keys_text(said, known)),
            fmt::format("Either the connection is intercepted, or the machine was reinstalled. Ask "
                        "its owner for the fingerprint; if the change is right, 'ponk "
                        "computetarget check TARGET --fingerprint {}' accepts it.",
                        shown_fingerprint(said).empty() ? "SHA256:…" : shown_fingerprint(said))};
    case Cause::host_key_unknown:
        return {Kind::conflict,
                fmt::format("the host key of '{}' is not known yet", name),
                "'ponk computetarget attach' shows the key and asks; '--fingerprint SHA256:…' sets "
                "the expected key."};
    case Cause::denied:
        return {Kind::unavailable,
                denied_text(address, said),
                fmt::format("Try 'ssh {}' by hand. 'ponk computetarget attach' can install a key "
                            "with a password once.",
                            address.text())};
    case Cause::key_unusable:
        return {Kind::invalid_argument,
                fmt::format("the private key for '{}' cannot be used: {}", name, last_line(said)),
                "Is the passphrase right, and is the file yours alone (chmod 600)?"};
    case Cause::algorithms:
        return {Kind::unavailable,
                fmt::format("'{}' and this machine's ssh have no algorithm in common: {}",
                            name,
                            last_line(said)),
                "One of them is too old; '~/.ssh/config' can allow old algorithms for this host."};
    case Cause::jump_failed:
        return jump_error(address, said);
    case Cause::closed:
        return {Kind::unavailable,
                fmt::format("'{}' closed the connection: {}", name, last_line(said)),
                "The machine may be restarting, or its sshd limits connections; try again in a "
                "minute, then check its log ('journalctl -u ssh')."};
    case Cause::no_client:
        return {Kind::unavailable,
                "there is no 'ssh' on this machine",
                "On Debian and Ubuntu: 'apt install openssh-client'."};
    case Cause::killed:
        return {Kind::unavailable,
                fmt::format("the ssh that went to '{}' was killed", name),
                "Try again; is this machine short of memory?"};
    case Cause::other:
        break;
    }
    const auto line = last_line(said);
    return {Kind::unavailable,
            fmt::format("'{}' cannot be reached: {}",
                        name,
                        line.empty() ? "ssh ended without a word" : line),
            fmt::format("Run 'ssh -v {}' for details.", address.host)};
}

}  // namespace ponk::ssh
