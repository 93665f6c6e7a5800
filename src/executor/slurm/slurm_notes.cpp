// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_notes.hpp"

#include "base/field_json.hpp"
#include "base/id.hpp"
#include "os/directory.hpp"

namespace ponk::executor::slurm {

Result<> SlurmNotes::write(const std::string& run, const SlurmNote& note) const
{
    TRY(os::make_directories(folder_));
    return os::replace_file(folder_ / run, to_json(fields_to_json(note)) + "\n");
}

Result<std::optional<SlurmNote>> SlurmNotes::find(const std::string& run) const
{
    const auto text = TRY(os::read_file_if_any(folder_ / run, 1 << 16));
    if (!text) return std::nullopt;
    SlurmNote note;
    const auto read = [&]() -> Result<> { return read_fields(TRY(parse_json(*text)), note); };
    TRY(read().map_error(while_doing("read {}", os::in_quotes(folder_ / run))));
    return note;
}

std::map<std::string, SlurmNote> SlurmNotes::all() const
{
    std::map<std::string, SlurmNote> notes;
    const auto entries = os::list_directory(folder_);
    if (!entries) return notes;
    for (const auto& entry : *entries) {
        if (!RunId::parse(entry.name)) continue;
        if (auto note = find(entry.name); note && *note) notes.emplace(entry.name, **note);
    }
    return notes;
}

Result<> SlurmNotes::remove(const std::string& run) const
{
    return os::remove_tree(folder_ / run);
}

}  // namespace ponk::executor::slurm
