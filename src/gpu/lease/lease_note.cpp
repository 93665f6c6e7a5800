// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease_note.hpp"

#include "base/text.hpp"

#include <limits>
#include <unistd.h>

namespace ponk::gpu {

namespace {

constexpr std::size_t longest_text = 256;

// As much of it as a note holds, whole characters only.
std::string shortened(std::string_view text)
{
    std::size_t end = 0;
    while (end < text.size()) {
        const auto size = std::max<std::size_t>(utf8_sequence(text.substr(end)), 1);
        if (end + size > longest_text) break;
        end += size;
    }
    return std::string(text.substr(0, end));
}

bool is_fit(const Json& text)
{
    return text.is_string() && text.as_string().size() <= longest_text;
}

}  // namespace

std::string to_text(const LeaseNote& note)
{
    JsonObject object{{"user", shortened(note.owner.user)},
                      {"run", shortened(note.owner.run)},
                      {"pid", note.owner.pid},
                      {"since", note.owner.since}};
    if (note.selection) object.set("gpus", to_text(*note.selection));
    return to_json(object) + "\n";
}

std::optional<LeaseNote> parse_lease_note(std::string_view text)
{
    if (text.size() > lease_note_limit || text.empty() || text.back() != '\n') return std::nullopt;
    const auto json = parse_json(text, {.depth = 2, .bytes = lease_note_limit});
    if (!json || !json->is_object()) return std::nullopt;
    const auto& user = (*json)["user"];
    const auto& run = (*json)["run"];
    const auto& pid = (*json)["pid"];
    const auto& since = (*json)["since"];
    if (!is_fit(user) || !is_fit(run) || !pid.is_integer() || !since.is_integer())
        return std::nullopt;
    if (pid.as_integer() < 0 || pid.as_integer() > std::numeric_limits<pid_t>::max() ||
        since.as_integer() < 0)
        return std::nullopt;
    LeaseNote note{.owner = {.user = printable(user.as_string()),
                             .run = printable(run.as_string()),
                             .pid = static_cast<pid_t>(pid.as_integer()),
                             .since = since.as_integer()},
                   .selection = std::nullopt};
    if (const auto& selection = (*json)["gpus"]; !selection.is_null()) {
        if (!selection.is_string()) return std::nullopt;
        auto parsed = parse_gpu_selection(selection.as_string());
        if (!parsed) return std::nullopt;
        note.selection = std::move(*parsed);
    }
    return note;
}

void write_lease_note(int fd, const LeaseNote& note)
{
    const auto text = to_text(note);
    const auto written = ::pwrite(fd, text.data(), text.size(), 0);
    const bool whole = written == static_cast<ssize_t>(text.size());
    [[maybe_unused]] const int cut = ::ftruncate(fd, whole ? written : 0);
}

std::optional<LeaseNote> read_lease_note(int fd)
{
    const auto text = os::read_at(fd, 0, lease_note_limit + 1);
    if (!text) return std::nullopt;
    return parse_lease_note(*text);
}

}  // namespace ponk::gpu
