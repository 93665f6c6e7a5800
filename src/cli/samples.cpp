// SPDX-License-Identifier: Apache-2.0
#include "cli/samples.hpp"

#include "base/text.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

namespace ponk::cli {
namespace {

std::optional<os::Path> gallery()
{
    std::error_code ignored;
    if (const char* folder = ::getenv("PONK_SAMPLES"); folder != nullptr && *folder != '\0') {
        return os::Path(folder);
    }
    os::Path place = os::own_program().parent_path();
    const os::Path installed = place.parent_path() / "share/ponk/samples";
    if (std::filesystem::is_directory(installed, ignored)) return installed;
    for (int up = 0; up < 5 && place.has_relative_path(); ++up, place = place.parent_path()) {
        const os::Path here = place / "samples";
        const bool source = std::filesystem::exists(place / "CMakePresets.json", ignored);
        if (source && std::filesystem::is_directory(here, ignored)) return here;
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<Sample>> list_samples()
{
    const auto folder = gallery();
    if (!folder) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "the samples are not installed",
                                    "Set PONK_SAMPLES to the folder that holds them."));
    }
    const os::Path index = *folder / "index.json";
    const Json document = TRY(parse_json(TRY(os::read_file(index, std::uint64_t{4} << 20)))
                                  .map_error(while_doing("{}", os::in_quotes(index))));
    std::vector<Sample> samples;
    if (!document["samples"].is_array()) return samples;
    for (const Json& entry : document["samples"].as_array()) {
        const std::string id = entry.text("folder");
        // One component: an index must not lead out of the gallery.
        if (id.empty() || id[0] == '.' || id.find('/') != id.npos) continue;
        samples.push_back({.name = entry.text("name"),
                           .id = id,
                           .script = entry.text("script"),
                           .summary = entry.text("summary"),
                           .substitution = entry.text("substitution"),
                           .folder = *folder / id});
    }
    return samples;
}

Result<Sample> find_sample(const std::string& name)
{
    std::vector<std::string> names;
    for (Sample& sample : TRY(list_samples())) {
        if (same_ignoring_case(sample.name, name) || same_ignoring_case(sample.id, name)) {
            return std::move(sample);
        }
        names.push_back(sample.name);
        names.push_back(sample.id);
    }
    const auto near = nearest(name, names);
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("no sample '{}'", printable(name)),
                                near ? fmt::format("Did you mean '{}'?", *near)
                                     : "'ponk project sample list' lists them."));
}

}  // namespace ponk::cli
