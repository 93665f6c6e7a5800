// SPDX-License-Identifier: Apache-2.0
#include "config/script/known_packages.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/packages/package_file.hpp"
#include "config/script/modules.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace ponk::config {

namespace {

constexpr std::uint64_t longest_list = std::uint64_t{1} << 20;
constexpr const char* files[] = {
    "uv.lock", "pyproject.toml", "environment.yml", "environment.yaml", default_conda_file};

std::string plain_name(std::string_view name)
{
    auto plain = lower(name);
    std::replace(plain.begin(), plain.end(), '_', '-');
    std::replace(plain.begin(), plain.end(), '.', '-');
    return plain;
}

// "1.2.3" of "==1.2.3" and "=1.2.3"; other constraints say no version.
std::string exact(std::string_view constraint)
{
    const auto digit = constraint.find_first_not_of('=');
    if (digit == 0 || digit == constraint.npos || constraint[digit] < '0' ||
        constraint[digit] > '9')
        return {};
    return std::string(constraint.substr(digit, constraint.find_first_of(",;= ", digit) - digit));
}

void add(const Package& package, KnownPackages& known)
{
    if (!package.name.empty()) known.versions[package.name] = exact(package.version);
}

void add_lines(const os::Path& file, KnownPackages& known)
{
    const auto opened = os::open_regular(file, os::Links::follow);
    const auto text = opened ? os::read_at(opened->get(), 0, longest_list) : Result<std::string>();
    if (!text) return;
    for (const auto& each : split(*text, '\n')) {
        const auto line = trim(std::string_view(each).substr(0, each.find('#')));
        if (!line.empty()) add(parse_package(line, {1, 1}, Installer::pip), known);
    }
}

KnownPackages listed_in(const os::Path& root, const std::string& file)
{
    KnownPackages known{
        .source = KnownPackages::Source::listed, .place = file, .modules = {}, .versions = {}};
    if (file.ends_with(".txt")) {
        add_lines(root / file, known);
        return known;
    }
    Report ignored(file);
    if (const auto read = read_package_file(root, file, ignored)) {
        for (const auto* list : {&read->conda, &read->pip}) {
            for (const auto& package : *list)
                add(package, known);
        }
    }
    return known;
}

}  // namespace

bool is_earlier(std::string_view version, std::string_view other)
{
    while (!version.empty() || !other.empty()) {
        int left = 0;
        int right = 0;
        std::from_chars(version.data(), version.data() + version.size(), left);
        std::from_chars(other.data(), other.data() + other.size(), right);
        if (left != right) return left < right;
        const auto rest = [](std::string_view text) {
            const auto dot = text.find('.');
            return dot == text.npos ? std::string_view() : text.substr(dot + 1);
        };
        version = rest(version);
        other = rest(other);
    }
    return false;
}

bool KnownPackages::has(std::string_view module) const
{
    const auto top = module.substr(0, module.find('.'));
    if (modules.contains(top)) return true;
    if (source == Source::installed) return false;
    // "tensorflow-gpu", "opencv-python-headless"
    const auto wanted = distribution_of(module);
    const auto own = plain_name(top);
    return std::any_of(versions.begin(), versions.end(), [&](const auto& each) {
        const auto is = [&each](const std::string& name) {
            return each.first == name || each.first.starts_with(name + "-");
        };
        return is(wanted) || is(own);
    });
}

std::string KnownPackages::version_of(std::string_view package) const
{
    const auto name = plain_name(package);
    for (const auto& each : {name, name + "-gpu", name + "-cpu"}) {
        const auto found = versions.find(each);
        if (found != versions.end() && !found->second.empty()) return found->second;
    }
    return {};
}

KnownPackages packages_in(const std::vector<os::Path>& folders, std::string place)
{
    KnownPackages known{.source = KnownPackages::Source::installed,
                        .place = std::move(place),
                        .modules = {},
                        .versions = {}};
    std::error_code problem;
    for (const auto& folder : folders) {
        for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
            const auto name = entry.path().filename().native();
            const auto first = name.substr(0, name.find('.'));
            if (name.ends_with(".dist-info") || name.ends_with(".egg-info")) {
                const auto dash = name.find('-');
                if (dash == name.npos) continue;
                const auto end = std::min(name.find('-', dash + 1), name.rfind('.'));
                known.versions[plain_name(name.substr(0, dash))] =
                    name.substr(dash + 1, end - dash - 1);
            } else if (name.ends_with(".py") || name.ends_with(".so") ||
                       entry.is_directory(problem)) {
                known.modules.insert(first);
            }
        }
    }
    return known;
}

KnownPackages packages_of_project(const os::Path& root, const std::string& script)
{
    if (script.ends_with(".py") && names_packages(root, script)) return listed_in(root, script);
    std::error_code problem;
    if (std::filesystem::exists(root / ".venv/pyvenv.cfg", problem)) {
        std::vector<os::Path> folders;
        for (const auto& entry : std::filesystem::directory_iterator(root / ".venv/lib", problem))
            folders.push_back(entry.path() / "site-packages");
        return packages_in(folders, ".venv");
    }
    for (const auto* file : files)
        if (names_packages(root, file)) return listed_in(root, file);
    if (names_packages(root, "requirements.txt")) return listed_in(root, "requirements.txt");
    return {};
}

}  // namespace ponk::config
