// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "base/api_version.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "engine/maintenance/doctor.hpp"
#include "engine/maintenance/environments.hpp"
#include "engine/maintenance/maintenance.hpp"
#include "os/file.hpp"

#include <filesystem>
#include <unistd.h>

namespace ponk::api {

namespace {

std::int64_t resident_kib()
{
    const auto text = os::read_file("/proc/self/statm");
    if (!text) return 0;
    const auto fields = split(*text, ' ');
    const auto pages = fields.size() > 1 ? parse_integer(fields[1]).value_or(0) : 0;
    return pages * (::sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

Result<net::Response> show_daemon(const Services& services, const Call& call)
{
    // Others see what it does, not where it lives.
    const bool is_owner = call.request.listener_kind == net::ListenerKind::unix_socket;
    const auto& identity = services.context().objects.identity();
    const auto store = to_hex({reinterpret_cast<const char*>(identity.data()), identity.size()});
    const auto& notice = services.history().opening().notice;
    JsonArray addresses;
    if (services.endpoints != nullptr) {
        for (const auto& address : services.endpoints->addresses)
            addresses.emplace_back(address);
    }
    const auto uri = services.endpoints == nullptr ? std::string() : services.endpoints->uri();
    return net::json_response(
        JsonObject{{"version", own_version()},
                   {"api", api_version},
                   {"pid", is_owner ? Json(static_cast<std::int64_t>(::getpid())) : Json()},
                   {"home", is_owner ? Json(services.context().home.native()) : Json()},
                   {"socket", is_owner ? Json(services.socket) : Json()},
                   {"tracking_uri", uri.empty() ? Json() : Json(uri)},
                   {"serves", std::move(addresses)},
                   {"pinned", services.endpoints != nullptr && services.endpoints->note().pinned},
                   {"started", utc_text(services.started)},
                   {"sync", store::to_string(services.history().sync())},
                   {"active_runs", services.engine.active_runs()},
                   {"waiting_runs", services.engine.waiting_runs()},
                   {"memory_kib", resident_kib()},
                   {"store", store},
                   {"notice", notice.empty() || !is_owner ? Json() : Json(notice)}});
}

Result<net::Response> stop_daemon(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    // Who ends it for good wants none that stays for ever; who replaces it does.
    if (body.boolean("unpin") && services.endpoints != nullptr)
        TRY(services.endpoints->set_pin(Endpoints::Pin::no));
    services.stop(body.text("reason", "asked to"));
    return net::json_response(JsonObject{{"stopping", true}});
}

// Clients that cannot start a daemon are told where it is; from now on it stays for them.
Result<net::Response> pin_daemon(const Services& services, const Call& /*call*/)
{
    if (services.endpoints == nullptr || services.tokens == nullptr ||
        services.endpoints->uri().empty()) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "the daemon has no port on the loopback interface",
                  fmt::format("See {} for the reason.",
                              os::in_quotes(services.context().home / "daemon.log"))));
    }
    const auto token = TRY(services.tokens->local_token());
    TRY(services.endpoints->set_pin(Endpoints::Pin::yes));
    return net::json_response(JsonObject{{"tracking_uri", services.endpoints->tracking_uri},
                                         {"certificate", services.endpoints->certificate},
                                         {"plain_uri", services.endpoints->plain_uri},
                                         {"token", token}});
}

Result<net::Response> show_doctor(const Services& services, const Call& call)
{
    const auto depth = call.request.parameter("full").value_or("") == "1" ? engine::Depth::full
                                                                          : engine::Depth::usual;
    JsonArray checks;
    for (const auto& check : engine::examine(services.context(), depth)) {
        checks.emplace_back(JsonObject{{"name", check.name},
                                       {"status", check.status},
                                       {"message", check.message},
                                       {"hint", check.hint}});
    }
    return net::json_response(JsonObject{{"checks", std::move(checks)}});
}

Result<net::Response> back_up(const Services& services, const Call& call)
{
    const os::Path file = TRY(body_of(call)).text("path");
    if (!file.is_absolute())
        return fail(ErrorKind::invalid_argument, "'path' must be the absolute path of a new file");
    std::error_code problem;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, problem)))
        return fail(ErrorKind::conflict, "{} already exists", os::in_quotes(file));
    TRY(services.history().backup_to(file));
    const auto size = std::filesystem::file_size(file, problem);
    return net::json_response(JsonObject{{"path", file.native()},
                                         {"size", problem ? 0 : static_cast<std::int64_t>(size)}});
}

Result<net::Response> collect_garbage(const Services& services, const Call& /*call*/)
{
    const auto report =
        TRY(engine::collect_garbage(services.context(), engine::CollectWhen::after_grace, {}));
    JsonArray deferred;
    for (const auto& reason : report.deferred_by)
        deferred.emplace_back(reason);
    JsonArray unreadable;
    for (const auto& manifest : report.unreadable)
        unreadable.emplace_back(
            JsonObject{{"snapshot", manifest.id.text()}, {"problem", manifest.problem}});
    const auto environments =
        engine::collect_environments(services.context(), services.context().environment_rules, {});
    JsonArray removed;
    for (const auto& entry : environments.removed)
        removed.emplace_back(entry.id);
    return net::json_response(JsonObject{
        {"trashed", report.trashed_objects},
        {"deleted", report.deleted_objects},
        {"freed_bytes", report.trashed_bytes},
        {"deferred_by", std::move(deferred)},
        {"unreadable", std::move(unreadable)},
        {"kept", report.kept_objects},
        {"environments", std::move(removed)},
        {"environment_bytes", environments.freed},
        {"problems", JsonArray(environments.problems.begin(), environments.problems.end())}});
}

}  // namespace ponk::api
