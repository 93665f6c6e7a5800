// SPDX-License-Identifier: Apache-2.0
#include "api/http/log_marks.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

constexpr std::size_t most_logs = 64;
constexpr std::size_t most_marks = 4096;

}  // namespace

std::optional<LogMarks::Mark> LogMarks::find(const Log& log, std::uint64_t served)
{
    const auto state = state_.lock();
    const auto found = state->logs.find(log.run);
    if (found == state->logs.end()) return std::nullopt;
    auto& known = found->second;
    if (known.inode != log.inode || known.patterns != log.patterns) return std::nullopt;
    known.used = ++state->uses;
    const auto behind = std::upper_bound(
        known.marks.begin(), known.marks.end(), served, [](std::uint64_t at, const Mark& mark) {
            return at < mark.served;
        });
    if (behind == known.marks.begin()) return std::nullopt;
    return *std::prev(behind);
}

void LogMarks::note(const Log& log, const Mark& mark)
{
    const auto state = state_.lock();
    auto& known = state->logs[log.run];
    known.used = ++state->uses;
    if (known.inode != log.inode || known.patterns != log.patterns) {
        known =
            Marks{.inode = log.inode, .patterns = log.patterns, .marks = {}, .used = known.used};
    }
    const auto last = known.marks.empty() ? 0 : known.marks.back().file;
    if (mark.file < last + known.spacing) return;
    known.marks.push_back(mark);
    if (known.marks.size() > most_marks) {
        std::size_t kept = 0;
        for (std::size_t i = 1; i < known.marks.size(); i += 2)
            known.marks[kept++] = known.marks[i];
        known.marks.resize(kept);
        known.spacing *= 2;
    }
    if (state->logs.size() <= most_logs) return;
    state->logs.erase(std::min_element(
        state->logs.begin(), state->logs.end(), [](const auto& one, const auto& other) {
            return one.second.used < other.second.used;
        }));
}

}  // namespace ponk::api
