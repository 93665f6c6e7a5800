// SPDX-License-Identifier: Apache-2.0
#include "secrets/keyring.hpp"

#include "base/seal.hpp"
#include "base/text.hpp"
#include "os/process.hpp"

#include <cstdlib>

namespace ponk::secrets {

namespace {

using std::chrono::seconds;

std::string variable(const char* name)
{
    const char* value = ::getenv(name);
    return value ? value : "";
}

bool has_session_bus()
{
    if (!variable("DBUS_SESSION_BUS_ADDRESS").empty()) return true;
    const auto runtime = variable("XDG_RUNTIME_DIR");
    std::error_code problem;
    return !runtime.empty() && std::filesystem::exists(runtime + "/bus", problem);
}

Result<os::Output> tool(std::vector<std::string> arguments, std::string input, Deadline deadline)
{
    arguments.insert(arguments.begin(), "secret-tool");
    os::Command command{.argv = std::move(arguments), .directory = "/", .input = std::move(input)};
    auto output = os::run(command, deadline, {});
    wipe(command.input);
    if (!output) {
        const auto what = output.error().kind() == ErrorKind::timeout
                              ? fmt::format("the desktop keyring does not answer within {} s",
                                            Keyring::patience.count())
                              : "the desktop keyring cannot be asked: " + output.error().message();
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  what,
                  "Log in to the desktop or unlock its keyring, and try again. After 'ponk daemon "
                  "stop', the next command looks for the keyring again."));
    }
    return output;
}

Error locked(const std::string& name)
{
    return {ErrorKind::unavailable,
            fmt::format("secret '{}' is in the desktop keyring, which is locked", name),
            "Unlock the keyring and try again."};
}

Error refused(const os::Output& output)
{
    return {ErrorKind::unavailable,
            fmt::format("the desktop keyring refuses: {}", printable(trim(output.err))),
            "Unlock the keyring of the desktop and try again."};
}

}  // namespace

bool Keyring::is_there()
{
    if (!has_session_bus() || !os::find_program("secret-tool", variable("PATH"))) return false;
    // Looks for something that never exists: a service that answers says so without a word.
    const auto answer =
        tool({"lookup", "application", "ponk", "probe", "1"}, {}, after(seconds(1)));
    return answer && answer->exit.status() == 1 && trim(answer->err).empty();
}

std::vector<std::string> Keyring::item(const std::string& name, const std::string& id) const
{
    return {"application", "ponk", "realm", realm_, "name", name, "id", id};
}

Result<>
Keyring::store(const std::string& name, const std::string& id, std::string_view value) const
{
    std::vector<std::string> arguments{"store", "--label=ponk secret " + name};
    for (auto& word : item(name, id))
        arguments.push_back(std::move(word));
    // As hex, because the program takes text and drops a line end.
    const auto output = TRY(tool(std::move(arguments), to_hex(value), deadline_));
    if (output.exit.status() != 0) return tl::unexpected(refused(output));
    auto stored = TRY(find(name, id));
    const bool same = stored && *stored == value;
    if (stored) wipe(*stored);
    if (!same)
        return fail(ErrorKind::unavailable, "the desktop keyring did not keep secret '{}'", name);
    return {};
}

Result<std::optional<std::string>> Keyring::find(const std::string& name,
                                                 const std::string& id) const
{
    std::vector<std::string> arguments{"lookup"};
    for (auto& word : item(name, id))
        arguments.push_back(std::move(word));
    auto output = TRY(tool(std::move(arguments), {}, deadline_));
    if (output.exit.status() != 0) {
        if (!trim(output.err).empty()) return tl::unexpected(refused(output));
        // It says nothing when there is no such item, and nothing when its user did not unlock it.
        if (TRY(has(name, id))) return tl::unexpected(locked(name));
        return std::optional<std::string>();
    }
    auto value = from_hex(trim(output.out));
    wipe(output.out);
    if (!value) {
        return fail(ErrorKind::damaged,
                    "the desktop keyring has something else under the name of secret '{}'",
                    name);
    }
    return value;
}

Result<> Keyring::remove(const std::string& name, const std::string& id) const
{
    std::vector<std::string> arguments{"clear"};
    for (auto& word : item(name, id))
        arguments.push_back(std::move(word));
    const auto output = TRY(tool(std::move(arguments), {}, deadline_));
    if (output.exit.status() != 0 && !trim(output.err).empty())
        return tl::unexpected(refused(output));
    if (TRY(has(name, id))) return tl::unexpected(locked(name));
    return {};
}

Result<bool> Keyring::has(const std::string& name, const std::string& id) const
{
    std::vector<std::string> arguments{"search", "--all"};
    for (auto& word : item(name, id))
        arguments.push_back(std::move(word));
    auto output = TRY(tool(std::move(arguments), {}, deadline_));
    // It complains of locked items, and goes on.
    const bool found = !trim(output.out).empty();
    wipe(output.out);  // values of what is not locked
    if (!found && !trim(output.err).empty()) return tl::unexpected(refused(output));
    return found;
}

}  // namespace ponk::secrets
