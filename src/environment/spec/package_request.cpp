// SPDX-License-Identifier: Apache-2.0
#include "environment/spec/package_request.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "environment/address/address.hpp"
#include "os/contained_path.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace ponk::environment {

namespace {

using config::Package;

constexpr std::size_t deepest_inclusion = 8;
constexpr std::size_t most_lines = 10'000;

Result<Digest> digest_of(const Path& path)
{
    const auto file = TRY(os::open_regular(path));
    Sha256 hash;
    for (std::uint64_t offset = 0;;) {
        const auto block = TRY(os::read_at(file.get(), offset, std::size_t{1} << 20));
        if (block.empty()) return hash.finish();
        hash.update(block);
        offset += block.size();
    }
}

// Names and sizes tell that a folder of packages changed; their bytes may be gigabytes. What is in
// it must not lead out of the project either.
Result<std::string> listing_of(const Path& folder, const Path& project)
{
    Sha256 hash;
    for (const auto& entry : TRY(os::list_directory(folder))) {
        std::error_code problem;
        if (std::filesystem::is_symlink(folder / entry.name, problem))
            TRY(os::contained_path(project, folder / entry.name));
        const auto size = std::filesystem::file_size(folder / entry.name, problem);
        hash.update(fmt::format("{}\n{}\n", entry.name, problem ? 0 : size));
    }
    return hash.finish().text().substr(0, 16);
}

// "python=3.6", "python >=3.6", "python 3.6": all after the name.
std::string constraint_of(const Package& package)
{
    std::string_view text = package.text;
    if (const auto channel = text.find("::"); channel != std::string_view::npos)
        text.remove_prefix(channel + 2);
    const auto end = std::min(text.find_first_of("=<>!~[ \t"), text.size());
    return std::string(trim(text.substr(end)));
}

// Names that every environment for Python has, so that they do not call for conda.
bool comes_with_python(const Package& package)
{
    return package.kind == Package::Kind::name && package.channel.empty() &&
           (package.name == "pip" || package.name == "setuptools" || package.name == "wheel");
}

// "file:///srv/x", "file:x" and "name @ file:///srv/x" name a path.
std::optional<std::string> path_of_address(std::string_view text)
{
    if (const auto at = text.find(" @ "); at != std::string_view::npos)
        text = trim(text.substr(at + 3));
    if (!lower(text).starts_with("file:")) return std::nullopt;
    text.remove_prefix(5);
    if (text.starts_with("//")) text.remove_prefix(2);
    if (text.starts_with("localhost/")) text.remove_prefix(9);
    return std::string(text.substr(0, text.find('#')));
}

// "-e .", "." and ".[extra]": runs import the project from their own copy, so there is nothing to
// install.
bool is_the_project(const std::string& text)
{
    std::string_view path = text;
    const auto value = option_value(text);
    if (is_option(text, "--editable", "-e")) path = value;
    path = path.substr(0, path.find('['));
    return path == "." || path == "./";
}

class PackageRequestReader {
public:
    PackageRequestReader(const Path& project, const std::string& file)
        : project_(project), file_(file), current_(file)
    {
    }

    Result<PackageRequest> read(const config::CondaEnvironment& environment)
    {
        for (const auto& channel : environment.channels)
            packages_.channels.emplace_back(trim(*channel));
        std::vector<Package> with_python;
        for (const auto& package : environment.conda)
            TRY(add_conda(package, with_python));
        // Conda brings its own; without it pip can set the version.
        for (const auto& package : with_python) {
            const auto constraint = constraint_of(package);
            if (packages_.needs_conda()) {
                packages_.conda.push_back(package.name + constraint);
            } else if (!constraint.empty() && package.version.starts_with('=') &&
                       !package.version.starts_with("==")) {
                packages_.pip.push_back(
                    {fmt::format("{}=={}.*", package.name, constraint.substr(1)), package.name});
            } else if (!constraint.empty()) {
                packages_.pip.push_back({package.name + constraint, package.name});
            }
        }
        for (const auto& package : environment.pip)
            TRY(add_pip(package, project_, 0));
        return std::move(packages_);
    }

private:
    [[nodiscard]] std::string at(const Package& package) const
    {
        return fmt::format("{}:{}:{}", current_, package.place.line, package.place.column);
    }

    // A dependency file comes with a project, from whomever that comes: it names what was
    // snapshotted with it, and nothing else of the machine that builds.
    [[nodiscard]] Result<Path>
    inside(const Package& package, const Path& folder, const std::string& name) const
    {
        auto path = os::contained_path(project_, folder / name);
        if (path) return path;
        return tl::unexpected(refusal(package, path.error()));
    }

    [[nodiscard]] Error refusal(const Package& package, const Error& error) const
    {
        if (error.kind() != ErrorKind::invalid_argument) {
            return error
                .within(
                    fmt::format("{}: '{}'", at(package), printable(without_secrets(package.text))))
                .with_hint("Keep the file in the project, and write its path relative to the "
                           "project's folder.");
        }
        return {ErrorKind::invalid_argument,
                fmt::format("{}: '{}' is outside the project",
                            at(package),
                            printable(without_secrets(package.text))),
                "Copy the file into the project. For a folder of packages or an index, set "
                "PIP_FIND_LINKS or PIP_INDEX_URL on the machine that builds."};
    }

    Result<> add_conda(const Package& package, std::vector<Package>& with_python)
    {
        if (package.kind != Package::Kind::name) {
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        fmt::format("{}: '{}' cannot be installed by conda",
                                                    at(package),
                                                    printable(without_secrets(package.text))),
                                        "Put it into the list below 'pip:'."));
        }
        if (package.name == "python" && package.channel.empty()) {
            packages_.python = constraint_of(package);
        } else if (comes_with_python(package)) {
            with_python.push_back(package);
        } else {
            packages_.conda.push_back(package.text);
        }
        return {};
    }

    Result<> add_pip(const Package& package, const Path& folder, std::size_t depth)
    {
        if (packages_.pip.size() >= most_lines)
            return fail(ErrorKind::invalid_argument, "{}: more than {} lines", file_, most_lines);
        if (is_the_project(package.text)) return {};
        switch (package.kind) {
        case Package::Kind::option:
            return add_option(package, folder, depth);
        case Package::Kind::path:
            return add_file(package, folder);
        case Package::Kind::url:
            if (path_of_address(package.text)) return add_file(package, folder);
            packages_.pip.push_back({package.text, package.name});
            return {};
        case Package::Kind::name:
            return add_name(package);
        }
        return {};
    }

    Result<> add_name(const Package& package)
    {
        if (package.version.size() > 1 && package.version[0] == '=' && package.version[1] != '=') {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("{}: pip cannot read '{}'", at(package), printable(package.text)),
                      "Write versions with '=='."));
        }
        packages_.pip.push_back({package.text, package.name});
        return {};
    }

    Result<> add_option(const Package& package, const Path& folder, std::size_t depth)
    {
        const auto& text = package.text;
        if (is_option(text, "--requirement", "-r")) return include(package, folder, depth);
        if (is_option(text, "--editable", "-e") || is_option(text, "--constraint", "-c")) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("{}: '{}' is not supported in a shared environment",
                                  at(package),
                                  printable(without_secrets(text))),
                      "Scripts can import the project's folders without it. For a package, build a "
                      "wheel; for constraints, write the versions in the list."));
        }
        PipLine line{text, {}, true, {}};
        // A folder of wheels may be named relative to the project.
        const auto value = option_value(text);
        const auto local = path_of_address(value);
        if (is_option(text, "--find-links", "-f")) {
            if (local || (value.find("://") == std::string::npos && !value.empty())) {
                line.folder = TRY(inside(package, folder, local.value_or(value)));
                const auto listing = listing_of(line.folder, project_);
                if (!listing) return tl::unexpected(refusal(package, listing.error()));
                line.folder_identity = fmt::format("{}#{}", value, *listing);
                line.text = "--find-links " + line.folder.string();
            }
        } else if (local) {
            TRY(inside(package, folder, *local));
        }
        packages_.pip.push_back(std::move(line));
        return {};
    }

    Result<> add_file(const Package& package, const Path& folder)
    {
        const auto name = path_of_address(package.text).value_or(package.text);
        const Path path = TRY(inside(package, folder, name));
        std::error_code problem;
        if (std::filesystem::is_directory(path, problem)) {
            return tl::unexpected(Error(
                ErrorKind::invalid_argument,
                fmt::format(
                    "{}: '{}' is a folder, not a wheel", at(package), printable(package.text)),
                "Build a wheel with 'pip wheel --no-deps FOLDER', and use the wheel."));
        }
        auto digest = digest_of(path);
        if (!digest) return tl::unexpected(refusal(package, digest.error()));
        packages_.pip.push_back({path.string(), package.name, false, LocalFile{path, *digest}});
        return {};
    }

    Result<> include(const Package& package, const Path& folder, std::size_t depth)
    {
        if (depth >= deepest_inclusion)
            return fail(
                ErrorKind::invalid_argument, "{}: the files include each other", at(package));
        const Path path = TRY(inside(package, folder, option_value(package.text)));
        const auto text = TRY(os::read_file(path, std::uint64_t{4} << 20)
                                  .map_error(while_doing("{}: '{}'", at(package), package.text)));
        const auto outer = std::exchange(current_, path.lexically_relative(project_).native());
        std::string held;
        config::Place place{0, 1};
        for (const auto& raw : split(text, '\n')) {
            std::string_view line = trim(raw);
            ++place.line;
            if (line.starts_with('#')) continue;
            if (const auto comment = line.find(" #"); comment != std::string_view::npos)
                line = trim(line.substr(0, comment));
            if (line.ends_with('\\')) {
                held.append(trim(line.substr(0, line.size() - 1))).append(" ");
                continue;
            }
            held.append(line);
            if (!trim(held).empty()) {
                const auto item = config::parse_package(held, place, config::Installer::pip);
                TRY(add_pip(item, path.parent_path(), depth + 1));
            }
            held.clear();
        }
        current_ = outer;
        return {};
    }

    const Path& project_;
    const std::string& file_;
    std::string current_;  // the file that is being read: itself, or one of requirements
    PackageRequest packages_;
};

}  // namespace

bool names_files(const config::CondaEnvironment& environment)
{
    const auto is_file = [](const std::string& text) {
        if (text.find("://") != std::string::npos) return text.find("file://") != std::string::npos;
        return text.find('/') != std::string::npos || text.starts_with(".");
    };
    for (const auto& channel : environment.channels)
        if (is_file(*channel)) return true;
    for (const auto* list : {&environment.conda, &environment.pip}) {
        for (const auto& package : *list) {
            const bool option = package.kind == config::Package::Kind::option;
            if (package.kind == config::Package::Kind::path || is_file(package.text) ||
                (option && package.text.find("://") == std::string::npos))
                return true;
        }
    }
    return false;
}

bool is_option(const std::string& text, std::string_view long_name, std::string_view short_name)
{
    const std::string_view word = std::string_view(text).substr(0, text.find_first_of(" \t="));
    if (word == long_name || word == short_name) return true;
    // "-rfile": a short option with its value in one word.
    return short_name.size() == 2 && !text.starts_with("--") && text.starts_with(short_name);
}

std::string option_value(const std::string& text)
{
    if (!text.starts_with("--") && text.size() > 2 && text[2] != ' ' && text[2] != '\t' &&
        text[2] != '=')
        return std::string(trim(std::string_view(text).substr(2)));
    const auto end = text.find_first_of(" \t=");
    if (end == std::string::npos) return {};
    return std::string(trim(std::string_view(text).substr(end + 1)));
}

Result<PackageRequest> read_package_request(const config::CondaEnvironment& environment,
                                            const Path& project,
                                            const std::string& file)
{
    return PackageRequestReader(project, file).read(environment);
}

std::string name_of_spec(std::string_view spec)
{
    if (const auto channel = spec.find("::"); channel != std::string_view::npos)
        spec.remove_prefix(channel + 2);
    return lower(spec.substr(0, spec.find_first_of("=<>!~[ ")));
}

std::vector<std::string> conda_specs(const PackageRequest& packages)
{
    const auto& constraint = packages.python;
    const bool bare =
        !constraint.empty() && std::isdigit(static_cast<unsigned char>(constraint[0]));
    std::vector<std::string> specs{"python" + (bare ? " " + constraint : constraint)};
    specs.insert(specs.end(), packages.conda.begin(), packages.conda.end());
    const bool has_pip = std::any_of(packages.conda.begin(),
                                     packages.conda.end(),
                                     [](const auto& spec) { return name_of_spec(spec) == "pip"; });
    if (!packages.pip.empty() && !has_pip) specs.emplace_back("pip");
    return specs;
}

}  // namespace ponk::environment
