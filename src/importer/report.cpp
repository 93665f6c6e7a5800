// SPDX-License-Identifier: Apache-2.0
#include "importer/report.hpp"

#include <algorithm>

namespace ponk::importer {

namespace {

constexpr std::size_t most_told = 1000;

Json tally_json(const Tally& tally)
{
    return JsonObject{{"found", tally.found},
                      {"added", tally.added},
                      {"same", tally.same},
                      {"refused", tally.refused}};
}

}  // namespace

void Report::Remarks::add(std::string where, std::string why)
{
    ++count;
    // The same is said of many runs when it is said of one.
    const auto last =
        told.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(told.size(), 8));
    const auto known =
        std::find_if(last, told.end(), [&](const Remark& remark) { return remark.why == why; });
    if (known != told.end()) {
        ++known->times;
    } else if (told.size() < most_told) {
        told.push_back({std::move(where), std::move(why)});
    }
}

Json Report::Remarks::to_json() const
{
    JsonArray list;
    for (const auto& remark : told)
        list.emplace_back(
            JsonObject{{"where", remark.where}, {"why", remark.why}, {"times", remark.times}});
    return list;
}

void Report::leave_out(std::string where, std::string why)
{
    left_out_.add(std::move(where), std::move(why));
}

void Report::complain(std::string where, std::string why)
{
    problems_.add(std::move(where), std::move(why));
}

Json Report::to_json(Detail detail) const
{
    JsonObject json{{"experiments", tally_json(experiments)},
                    {"runs", tally_json(runs)},
                    {"points", points},
                    {"models", tally_json(models)},
                    {"registered_models", tally_json(registered)},
                    {"files", tally_json(files)},
                    {"bytes", bytes},
                    {"left_out_count", std::uint64_t{left_out_.count}},
                    {"problem_count", std::uint64_t{problems_.count}}};
    if (detail == Detail::counts) return json;
    json.append("left_out", left_out_.to_json());
    json.append("problems", problems_.to_json());
    return json;
}

}  // namespace ponk::importer
