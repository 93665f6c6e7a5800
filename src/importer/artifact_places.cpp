// SPDX-License-Identifier: Apache-2.0
#include "importer/artifact_places.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <fcntl.h>

namespace ponk::importer {

namespace {

struct Address {
    std::string scheme;  // lower case; empty: a path
    std::string path;
};

Address parse_address(const std::string& text)
{
    const auto colon = text.find(':');
    const bool has_scheme = colon != std::string::npos && colon > 1 &&
                            text.substr(0, colon).find('/') == std::string::npos;
    if (!has_scheme) return {"", text};
    Address address{lower(text.substr(0, colon)), text.substr(colon + 1)};
    if (address.path.starts_with("//")) {
        const auto slash = address.path.find('/', 2);
        address.path = slash == std::string::npos ? "" : address.path.substr(slash);
    }
    return address;
}

std::string without_slashes(std::string path)
{
    path.erase(0, path.find_first_not_of('/'));
    return path;
}

// Below `root`, as text; nullopt: it is not.
std::optional<os::Path> below(const os::Path& root, const os::Path& path)
{
    const auto relative = path.lexically_normal().lexically_relative(root.lexically_normal());
    if (relative.empty() || *relative.begin() == "..") return std::nullopt;
    return relative;
}

}  // namespace

Result<ArtifactPlaces::Root> ArtifactPlaces::open_root(const os::Path& path)
{
    auto folder = TRY(os::open_file(path, O_RDONLY | O_DIRECTORY));
    Root root{path, path, std::move(folder)};
    std::error_code problem;
    if (auto canonical = std::filesystem::canonical(path, problem); !problem)
        root.canonical = std::move(canonical);
    return root;
}

Result<ArtifactPlaces> ArtifactPlaces::open(const os::Path& own,
                                            const std::optional<os::Path>& given)
{
    ArtifactPlaces places;
    places.own_ = TRY(open_root(own));
    if (given) places.given_ = TRY(open_root(*given));
    return places;
}

bool ArtifactPlaces::is_local(const std::string& address)
{
    const auto scheme = parse_address(address).scheme;
    return scheme.empty() || scheme == "file" || scheme == "mlflow-artifacts";
}

// Nothing when there is no such folder.
std::optional<Files> ArtifactPlaces::look(const Root& root, const os::Path& path)
{
    std::optional<os::Path> inside = path;
    if (path.is_absolute()) {
        inside = below(root.path, path);
        if (!inside) inside = below(root.canonical, path);
    }
    if (!inside || inside->empty()) return std::nullopt;
    auto folder = os::open_beneath(root.fd.get(), *inside, O_RDONLY | O_DIRECTORY);
    if (!folder) return std::nullopt;
    return Files{std::move(*folder), (root.path / *inside).native(), {}};
}

Files ArtifactPlaces::find(const std::string& text, const std::vector<std::string>& tails) const
{
    const auto address = parse_address(text);
    const bool proxied = address.scheme == "mlflow-artifacts";
    const bool local = address.scheme.empty() || address.scheme == "file";
    const os::Path path(address.path);
    if (given_) {
        std::vector<os::Path> candidates;
        if (local && path.is_absolute()) candidates.push_back(path);
        if (proxied) candidates.emplace_back(without_slashes(address.path));
        candidates.insert(candidates.end(), tails.begin(), tails.end());
        for (const auto& candidate : candidates) {
            if (auto files = look(*given_, candidate)) return std::move(*files);
        }
    }
    if (local && !address.path.empty()) {
        if (auto files = look(own_, path)) return std::move(*files);
        const bool inside = !path.is_absolute() || below(own_.path, path).has_value() ||
                            below(own_.canonical, path).has_value();
        if (inside || given_) return {};
    }
    // Where MLflow's server keeps what it is sent, unless told otherwise.
    if (proxied) {
        if (auto files = look(own_, os::Path("mlartifacts") / without_slashes(address.path)))
            return std::move(*files);
    }
    if (given_ || text.empty()) return {};
    const auto run = address.path.rfind("/artifacts");
    auto shown =
        text.substr(0, text.size() - (run == std::string::npos ? 0 : address.path.size() - run));
    if (const auto slash = shown.rfind('/'); run != std::string::npos && slash != std::string::npos)
        shown.resize(slash);
    return {{},
            {},
            proxied ? "its files, if there are any, are on MLflow's server: use --artifacts DIR "
                      "with the folder in which it keeps them"
                    : fmt::format("its files, if there are any, are in '{}': use --artifacts DIR "
                                  "to copy them from DIR",
                                  printable(shown))};
}

}  // namespace ponk::importer
