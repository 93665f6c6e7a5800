// SPDX-License-Identifier: Apache-2.0
#include "environment/installed/installed_packages.hpp"

#include "base/text.hpp"
#include "environment/address/address.hpp"
#include "environment/build/image_probe.hpp"
#include "environment/spec/spec.hpp"
#include "environment/tools/embedded_scripts.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr int format_version = 1;
constexpr std::uint64_t largest_note = std::uint64_t{64} << 20;
constexpr std::size_t most_shown = 5;
// A Python that takes longer has something else to do than to list packages.
constexpr auto patience = 30s;

std::string stamp_of(const Path& path)
{
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return "-";
    return fmt::format("{} {} {} {}.{:09} {}.{:09}",
                       info.st_dev,
                       info.st_ino,
                       info.st_size,
                       info.st_mtim.tv_sec,
                       info.st_mtim.tv_nsec,
                       info.st_ctim.tv_sec,
                       info.st_ctim.tv_nsec);
}

Path note_file(const Path& home, const std::string& what)
{
    return home / "envs" / ".installed" / sha256(what).text().substr(0, 32);
}

Json to_note(const Installed& installed, std::vector<std::string> watched)
{
    JsonArray stamps;
    for (auto& path : watched) {
        auto stamp = stamp_of(path);
        stamps.emplace_back(JsonArray{std::move(path), std::move(stamp)});
    }
    return JsonObject{{"format", format_version},
                      {"stamps", std::move(stamps)},
                      {"program", installed.program},
                      {"prefix", installed.prefix},
                      {"lock", to_text(installed.lock)}};
}

// What was written down, if nothing of it has changed since.
std::optional<Installed> read_note(const Path& file)
{
    const auto text = os::read_file_if_any(file, largest_note);
    if (!text || !*text) return std::nullopt;
    const auto note = parse_json(**text);
    if (!note || note->integer("format") != format_version || !(*note)["stamps"].is_array())
        return std::nullopt;
    for (const auto& item : (*note)["stamps"].as_array()) {
        if (!item.is_array() || item.as_array().size() != 2 || !item.as_array()[0].is_string())
            return std::nullopt;
        if (Json(stamp_of(item.as_array()[0].as_string())) != item.as_array()[1])
            return std::nullopt;
    }
    auto lock = parse_lock(note->text("lock"));
    if (!lock) return std::nullopt;
    return Installed{.program = note->text("program"),
                     .prefix = note->text("prefix"),
                     .lock = std::move(*lock),
                     .folders = {}};
}

void write_note(const Path& file, const Json& note)
{
    // Without it the next run asks again.
    if (os::make_directories(file.parent_path()))
        static_cast<void>(os::replace_file(file, to_json(note), 0600, os::Durable::no));
}

// What decides, beside the interpreter, where its imports look.
std::string import_settings(const std::vector<std::string>& environment)
{
    std::string text;
    for (const auto* name : {"PYTHONPATH",
                             "PYTHONHOME",
                             "PYTHONNOUSERSITE",
                             "PYTHONUSERBASE",
                             "HOME",
                             "PYENV_VERSION"})
        text += fmt::format("{}\n", os::variable(environment, name));
    return text;
}

}  // namespace

Result<Installed> parse_installed(std::string_view text, std::string platform)
{
    Installed installed;
    installed.lock.platform = std::move(platform);
    bool whole = false;
    for (const auto& line : split(text, '\n')) {
        const auto fields = split(line, '\t');
        const auto& kind = fields[0];
        if (kind == "end") whole = true;
        if (fields.size() < 2) continue;
        if (kind == "python") {
            installed.lock.python = fields[1];
            if (fields.size() > 2) installed.program = fields[2];
        }
        if (kind == "prefix") installed.prefix = fields[1];
        if (kind == "folder") installed.folders.push_back(fields[1]);
        const bool conda = kind == "conda";
        if (fields.size() != 4 || (!conda && kind != "pip")) continue;
        LockedPackage package{.manager = conda ? LockedPackage::Manager::conda
                                               : LockedPackage::Manager::pip,
                              .name = fields[1],
                              .version = fields[2],
                              .build = conda ? fields[3] : "",
                              .source = conda ? "" : without_secrets(fields[3]),
                              .direct = !conda && !fields[3].empty(),
                              .sha256 = {},
                              .md5 = {}};
        if (is_valid(package)) installed.lock.packages.push_back(std::move(package));
    }
    if (!whole || installed.lock.python.empty())
        return fail(ErrorKind::unavailable, "the list of packages is incomplete");
    sort_packages(installed.lock);
    return installed;
}

Result<Installed> installed_packages(const Path& home,
                                     const Path& interpreter,
                                     const Path& folder,
                                     const std::vector<std::string>& environment,
                                     std::stop_token stop)
{
    const auto version_file = os::read_file_if_any(folder / ".python-version", 4096);
    const auto file = note_file(home,
                                fmt::format("{}\n{}{}",
                                            interpreter.native(),
                                            import_settings(environment),
                                            version_file ? version_file->value_or("") : ""));
    if (auto known = read_note(file)) return std::move(*known);
    const auto asked =
        TRY(os::run({.argv = {interpreter.native(), "-c", std::string(list_packages_script())},
                     .env = environment,
                     .directory = folder},
                    after(patience),
                    stop));
    if (asked.exit.status() != 0) {
        const auto lines = split(trim(asked.err), '\n');
        return fail(ErrorKind::unavailable, "{}", printable(lines.back()));
    }
    auto installed = TRY(parse_installed(asked.out, this_platform()));
    auto watched = installed.folders;
    watched.push_back(interpreter.native());
    // A virtual environment's settings; the version that pyenv's shims lead to.
    for (const auto* name : {"pyvenv.cfg", "version"})
        watched.push_back((interpreter.parent_path().parent_path() / name).native());
    write_note(file, to_note(installed, std::move(watched)));
    return installed;
}

Result<std::optional<Installed>> installed_in_image(const Path& home,
                                                    const dockerapi::Engine& engine,
                                                    const std::string& image_id,
                                                    const std::string& interpreter,
                                                    std::stop_token stop)
{
    const auto file = note_file(home, "image\n" + image_id + "\n" + interpreter);
    if (auto known = read_note(file)) {
        if (known->lock.python.empty()) return std::nullopt;
        return known;
    }
    static constexpr const char* search =
        "script=$1; shift; for name in \"$@\"; do command -v \"$name\" >/dev/null && "
        "exec \"$name\" -c \"$script\"; done; printf 'python\\t\\n'";
    std::vector<std::string> words = {
        "/bin/sh", "-c", search, "list", std::string(list_packages_script())};
    if (interpreter.empty()) {
        words.insert(words.end(), {"python", "python3"});
    } else {
        words.push_back(interpreter);
    }
    const auto text = TRY(ask_image(engine, image_id, words, stop));
    auto installed =
        parse_installed(text.value_or(""), conda_platform(engine.version().architecture));
    const bool has_python = installed.has_value();
    write_note(file, to_note(has_python ? *installed : Installed(), {}));
    if (!has_python) return std::nullopt;
    return std::move(*installed);
}

std::string difference_between(const Lock& before, const Lock& after)
{
    using Key = std::pair<LockedPackage::Manager, std::string>;
    const auto by_name = [](const Lock& lock) {
        std::map<Key, std::string> versions;
        for (const auto& package : lock.packages)
            versions.emplace(Key{package.manager, package.name}, package.version);
        return versions;
    };
    const auto old_versions = by_name(before);
    const auto new_versions = by_name(after);
    std::vector<std::string> changes;
    if (before.python != after.python)
        changes.push_back(fmt::format("Python {} (before: {})", after.python, before.python));
    for (const auto& [key, version] : new_versions) {
        const auto old_version = old_versions.find(key);
        if (old_version == old_versions.end()) {
            changes.push_back(fmt::format("{} {} added", key.second, version));
        } else if (old_version->second != version) {
            changes.push_back(
                fmt::format("{} {} (before: {})", key.second, version, old_version->second));
        }
    }
    for (const auto& [key, version] : old_versions)
        if (!new_versions.contains(key))
            changes.push_back(fmt::format("{} {} removed", key.second, version));
    if (changes.size() > most_shown) {
        const auto more = changes.size() - most_shown;
        changes.resize(most_shown);
        changes.push_back(fmt::format("{} more", more));
    }
    return join(changes, ", ");
}

}  // namespace ponk::environment
