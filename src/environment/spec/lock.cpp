// SPDX-License-Identifier: Apache-2.0
#include "environment/spec/lock.hpp"

#include "base/text.hpp"
#include "environment/address/address.hpp"

#include <algorithm>
#include <tuple>

namespace ponk::environment {

namespace {

using Manager = LockedPackage::Manager;

constexpr int format_version = 1;
constexpr std::size_t most_packages = 100'000;

LockedPackage package_from(const Json& item)
{
    LockedPackage package{
        .manager = item.text("manager") == "conda" ? Manager::conda : Manager::pip,
        .name = item.text("name"),
        .version = item.text("version"),
        .build = item.text("build"),
        .source = without_secrets(item.text("source")),
        .direct = item.boolean("direct"),
        .md5 = item.text("md5"),
    };
    if (const auto& digests = item["sha256"]; digests.is_array()) {
        for (const auto& digest : digests.as_array())
            if (digest.is_string()) package.sha256.push_back(digest.as_string());
    }
    return package;
}

// What goes onto an installer's line must be one word of an installer's alphabet: a lock may come
// from elsewhere.
bool is_plain(std::string_view text)
{
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-+!") == std::string_view::npos &&
           text[0] != '-';
}

bool is_hex(std::string_view text, std::size_t digits)
{
    return text.size() == digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_hidden(std::string_view source)
{
    return source.find("***") != std::string_view::npos;
}

const PipLine* find_line(const PackageRequest& packages, const LockedPackage& package)
{
    for (const auto& line : packages.pip) {
        if (line.is_option) continue;
        if (line.name == package.name) return &line;
        if (line.text.find("://") != std::string::npos &&
            without_secrets(line.text).find(package.source) != std::string::npos)
            return &line;
    }
    return nullptr;
}

// How pip is told of one package, without checksums.
Result<std::string> requirement(const LockedPackage& package, const PackageRequest& packages)
{
    if (!package.direct) return fmt::format("{}=={}", package.name, package.version);
    if (!is_hidden(package.source) && !package.source.starts_with("file:"))
        return fmt::format("{} @ {}", package.name, package.source);
    const auto* line = find_line(packages, package);
    if (line == nullptr) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("the lock has '{}' from '{}', which is not in the dependency file",
                              package.name,
                              package.source),
                  "Restore the line, or prepare without the lock."));
    }
    if (line->file) return fmt::format("{} @ file://{}", package.name, line->file->path.string());
    if (line->text.find(" @ ") != std::string::npos) return line->text;
    return fmt::format("{} @ {}", package.name, line->text);
}

}  // namespace

bool is_valid(const LockedPackage& package)
{
    return is_plain(package.name) && is_plain(package.version) &&
           (package.build.empty() || is_plain(package.build)) &&
           (package.md5.empty() || is_hex(package.md5, 32)) &&
           package.source.find_first_of(" \t\r\n\"'") == std::string::npos &&
           std::all_of(package.sha256.begin(), package.sha256.end(), [](const auto& digest) {
               return is_hex(digest, 64);
           });
}

void sort_packages(Lock& lock)
{
    const auto order = [](const LockedPackage& package) {
        return std::tie(package.manager, package.name, package.version);
    };
    std::sort(lock.packages.begin(),
              lock.packages.end(),
              [&order](const auto& left, const auto& right) { return order(left) < order(right); });
}

Result<Lock> parse_lock(std::string_view text)
{
    const auto document = TRY(parse_json(text).map_error([](const Error& error) {
        return Error(ErrorKind::damaged, "the lock cannot be read: " + error.message());
    }));
    if (document.integer("format") != format_version || !document["packages"].is_array()) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("this is not a lock of format {}", format_version),
                  "Use the version of ponk that wrote it, or prepare again without the lock."));
    }
    Lock lock{.platform = document.text("platform"), .python = document.text("python")};
    const auto& items = document["packages"].as_array();
    if (items.size() > most_packages)
        return fail(ErrorKind::damaged, "a lock of {} packages", items.size());
    for (const auto& item : items) {
        lock.packages.push_back(package_from(item));
        const auto& package = lock.packages.back();
        if (!is_valid(package))
            return fail(ErrorKind::damaged,
                        "the lock has an invalid package '{}' '{}'",
                        printable(package.name),
                        printable(package.version));
    }
    sort_packages(lock);
    return lock;
}

std::string to_text(const Lock& lock)
{
    JsonArray packages;
    for (const auto& package : lock.packages) {
        JsonObject item{{"manager", package.manager == Manager::conda ? "conda" : "pip"},
                        {"name", package.name},
                        {"version", package.version}};
        if (!package.build.empty()) item.set("build", package.build);
        item.set("source", package.source);
        if (package.direct) item.set("direct", true);
        if (!package.sha256.empty())
            item.set("sha256", JsonArray(package.sha256.begin(), package.sha256.end()));
        if (!package.md5.empty()) item.set("md5", package.md5);
        packages.push_back(std::move(item));
    }
    return to_json(JsonObject{{"format", format_version},
                              {"platform", lock.platform},
                              {"python", lock.python},
                              {"packages", std::move(packages)}},
                   JsonStyle::pretty) +
           "\n";
}

Digest digest_of(const Lock& lock)
{
    return sha256(to_text(lock));
}

Result<std::vector<std::string>> exact_lines(const Lock& lock, const PackageRequest& packages)
{
    std::vector<std::string> lines;
    for (const auto& line : packages.pip)
        if (line.is_option) lines.push_back(line.text);
    // Checksums are all or nothing to pip; what comes from version control has its commit instead.
    const bool all_have =
        std::all_of(lock.packages.begin(), lock.packages.end(), [](const LockedPackage& package) {
            return package.manager == Manager::conda || !package.sha256.empty();
        });
    for (const auto& package : lock.packages) {
        if (package.manager != Manager::pip) continue;
        auto line = TRY(requirement(package, packages));
        if (all_have && line.find(" --hash=") == std::string::npos) {
            for (const auto& digest : package.sha256)
                line += " --hash=sha256:" + digest;
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

Result<std::string> explicit_list(const Lock& lock, const std::vector<std::string>& channels)
{
    std::string text = "@EXPLICIT\n";
    for (const auto& package : lock.packages) {
        if (package.manager != Manager::conda) continue;
        auto source = package.source;
        // The channel that hides behind this address is among those that the file names.
        for (const auto& channel : channels) {
            const auto shown = without_secrets(channel);
            if (is_hidden(source) && is_hidden(shown) && source.starts_with(shown))
                source = channel + source.substr(shown.size());
        }
        if (source.empty() || is_hidden(source)) {
            return tl::unexpected(
                Error(ErrorKind::not_found,
                      fmt::format("the lock does not say where '{}' comes from", package.name),
                      "Prepare without the lock."));
        }
        text += source;
        if (!package.md5.empty()) text += "#" + package.md5;
        text += "\n";
    }
    return text;
}

}  // namespace ponk::environment
