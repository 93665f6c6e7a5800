// SPDX-License-Identifier: Apache-2.0
#include "config/consents/consents.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "os/file_lock.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t largest_file = 16 << 20;
constexpr std::int64_t file_version = 1;

bool same(const Consent& left, const Consent& right)
{
    return left.kind == right.kind && left.project == right.project && left.what == right.what;
}

Result<Consent> consent_from(const Json& entry)
{
    const auto kind = consent_kind_from(entry.text("kind"));
    if (!kind) return fail(ErrorKind::damaged, "'kind' is '{}'", printable(entry.text("kind")));
    return Consent{*kind, entry.text("project"), entry.text("what"), entry.integer("time")};
}

// One command for each kind, joined as a shell would take them.
std::string allowing_line(const std::vector<Request>& requests)
{
    std::vector<std::string> lines;
    for (const auto kind :
         {ConsentKind::secret, ConsentKind::docker_argument, ConsentKind::folder}) {
        std::string line;
        for (const auto& request : requests)
            if (request.kind == kind) line += " " + shell_word(printable(request.what));
        if (!line.empty()) lines.push_back(fmt::format("ponk allow {}{}", to_string(kind), line));
    }
    return join(lines, " && ");
}

}  // namespace

const char* to_string(ConsentKind kind)
{
    switch (kind) {
    case ConsentKind::secret:
        return "secret";
    case ConsentKind::docker_argument:
        return "docker-argument";
    case ConsentKind::folder:
        return "folder";
    }
    return "secret";
}

std::optional<ConsentKind> consent_kind_from(std::string_view word)
{
    for (const auto kind : {ConsentKind::secret, ConsentKind::docker_argument, ConsentKind::folder})
        if (word == to_string(kind)) return kind;
    return std::nullopt;
}

std::string Request::text() const
{
    const char* const noun = kind == ConsentKind::secret            ? "the secret"
                             : kind == ConsentKind::docker_argument ? "the docker argument"
                                                                    : "the shared folder";
    return fmt::format("{} '{}'{}",
                       noun,
                       printable(what),
                       where.empty() ? "" : fmt::format(" ({})", printable(where)));
}

std::string project_name_in_consents(const os::Path& folder)
{
    std::error_code problem;
    const auto real = std::filesystem::weakly_canonical(folder, problem);
    return (problem ? folder : real).string();
}

Consents::Consents(const os::Path& home)
    : file_(home / "allowed.json"), lock_(home / "allowed.lock")
{
}

Result<std::vector<Consent>> Consents::list() const
{
    const auto damaged = while_doing("{}", os::in_quotes(file_));
    const auto text = TRY(os::read_file_if_any(file_, largest_file));
    std::vector<Consent> consents;
    if (!text) return consents;
    const Json json = TRY(parse_json(*text).map_error(damaged));
    if (json.integer("version") != file_version || !json["allowed"].is_array())
        return tl::unexpected(Error(ErrorKind::damaged,
                                    os::in_quotes(file_) + " has an unknown format",
                                    "A newer version wrote it, or it is damaged. Move the file "
                                    "away, then allow what the project needs again."));
    for (const Json& entry : json["allowed"].as_array())
        consents.push_back(TRY(consent_from(entry).map_error(damaged)));
    return consents;
}

Result<> Consents::write(const std::vector<Consent>& consents) const
{
    JsonArray entries;
    for (const auto& consent : consents)
        entries.push_back(JsonObject{{"kind", to_string(consent.kind)},
                                     {"project", consent.project},
                                     {"what", consent.what},
                                     {"time", consent.time}});
    const JsonObject json{{"version", file_version}, {"allowed", std::move(entries)}};
    return os::replace_file(file_, to_json(json, JsonStyle::pretty) + "\n", 0600);
}

Result<> Consents::add(const Consent& consent)
{
    TRY(os::make_directories(file_.parent_path(), 0700));
    const auto lock = TRY(os::FileLock::take(lock_, os::FileLock::Kind::exclusive, after(30s), {}));
    auto consents = TRY(list());
    const auto is_it = [&](const Consent& other) { return same(other, consent); };
    if (std::ranges::any_of(consents, is_it)) return {};
    consents.push_back(consent);
    if (consents.back().time == 0) consents.back().time = wall_milliseconds();
    return write(consents);
}

Result<> Consents::remove(const Consent& consent)
{
    const auto lock = TRY(os::FileLock::take(lock_, os::FileLock::Kind::exclusive, after(30s), {}));
    auto consents = TRY(list());
    const auto is_it = [&](const Consent& other) { return same(other, consent); };
    if (std::erase_if(consents, is_it) == 0) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("{} is not allowed for '{}'",
                                                Request{consent.kind, consent.what, {}}.text(),
                                                printable(consent.project)),
                                    "'ponk allow' lists the permissions."));
    }
    return write(consents);
}

Result<> Consents::forget(ConsentKind kind, const std::string& what)
{
    if (::access(file_.c_str(), F_OK) != 0) return {};
    const auto lock = TRY(os::FileLock::take(lock_, os::FileLock::Kind::exclusive, after(30s), {}));
    auto consents = TRY(list());
    const auto is_it = [&](const Consent& other) {
        return other.kind == kind && other.what == what;
    };
    return std::erase_if(consents, is_it) == 0 ? Result<>() : write(consents);
}

Result<std::vector<Request>> Consents::missing(const os::Path& project,
                                               std::vector<Request> requests) const
{
    if (requests.empty()) return requests;
    const auto consents = TRY(list());
    const auto name = project_name_in_consents(project);
    std::erase_if(requests, [&](const Request& request) {
        return std::ranges::any_of(consents, [&](const Consent& consent) {
            return consent.kind == request.kind && consent.what == request.what &&
                   (consent.project == name || consent.project == Consent::every_project);
        });
    });
    return requests;
}

Result<> Consents::require(const os::Path& project, std::vector<Request> requests) const
{
    const auto asked = TRY(missing(project, std::move(requests)));
    if (asked.empty()) return {};
    std::vector<std::string> texts;
    for (const auto& request : asked)
        texts.push_back(request.text());
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("project {} needs a permission that you have not given: {}",
                          os::in_quotes(project),
                          join(texts, ", ")),
              fmt::format("If you trust the project's code, run this in its folder: {}",
                          allowing_line(asked))));
}

}  // namespace ponk::config
