// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/samples.hpp"

#include "base/text.hpp"
#include "cli/projects/project_files.hpp"
#include "cli/projects/stored_zip.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

constexpr std::string_view index_name = "index.json";

Result<std::string> index_of(const os::Path& folder, std::string_view archive)
{
    if (!folder.empty()) return os::read_file(folder / index_name, std::uint64_t{4} << 20);
    if (archive.empty()) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "this program contains no samples",
                                    "Set PONK_SAMPLES to the folder of the samples."));
    }
    for (const ZipEntry& entry : TRY(read_stored_zip(archive))) {
        if (entry.name == index_name) return std::string(entry.bytes);
    }
    return fail(ErrorKind::damaged, "the archive of samples has no '{}'", index_name);
}

}  // namespace

Result<Gallery> Gallery::open(std::string_view archive)
{
    Gallery gallery;
    const char* folder = ::getenv("PONK_SAMPLES");
    if (folder != nullptr && *folder != '\0') gallery.folder_ = folder;
    gallery.archive_ = archive;
    const Json index = TRY(parse_json(TRY(index_of(gallery.folder_, archive)))
                               .map_error(while_doing("the list of samples")));
    if (!index["samples"].is_array()) return gallery;
    for (const Json& entry : index["samples"].as_array()) {
        const std::string name = entry.text("folder");
        // One component: an index must not lead out of the gallery.
        if (name.empty() || name[0] == '.' || name.find('/') != name.npos) continue;
        gallery.samples_.push_back({.name = entry.text("name"),
                                    .folder = name,
                                    .script = entry.text("script"),
                                    .summary = entry.text("summary"),
                                    .substitution = entry.text("substitution")});
    }
    return gallery;
}

Result<Sample> Gallery::find(const std::string& name) const
{
    std::vector<std::string> names;
    for (const Sample& sample : samples_) {
        if (same_ignoring_case(sample.name, name) || same_ignoring_case(sample.folder, name))
            return sample;
        names.push_back(sample.name);
        names.push_back(sample.folder);
    }
    const auto near = nearest(name, names);
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("no sample '{}'", printable(name)),
                                near ? fmt::format("Did you mean '{}'?", *near)
                                     : "'ponk project sample list' lists the samples."));
}

Result<> Gallery::copy(const Sample& sample, const os::Path& to) const
{
    if (!folder_.empty())
        return copy_project(folder_ / sample.folder, to, {"outputs", "__pycache__"});
    const std::string head = sample.folder + "/";
    for (const ZipEntry& entry : TRY(read_stored_zip(archive_))) {
        if (!entry.name.starts_with(head)) continue;
        const os::Path file = to / entry.name.substr(head.size());
        TRY(os::make_directories(file.parent_path(), 0755));
        TRY(os::replace_file(file, entry.bytes, entry.executable ? 0755 : 0644, os::Durable::no));
    }
    return {};
}

}  // namespace ponk::cli
