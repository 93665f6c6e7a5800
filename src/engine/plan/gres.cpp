// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/gres.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ponk::engine {

namespace {

std::string name_of(std::string_view part)
{
    return std::string(part.substr(0, part.find_first_of(":=")));
}

// "gpu:a100:2(S:0-1)" → 2; "gpu:a100" → 1
unsigned count_of(std::string_view part)
{
    part = part.substr(0, part.find('('));
    const auto last = part.substr(part.find_last_of(":=") + 1);
    const auto count = parse_integer(last).value_or(1);
    return static_cast<unsigned>(std::clamp<long long>(count, 0, 1'000'000));
}

unsigned gpus_in(const std::string& gres)
{
    unsigned sum = 0;
    for (const auto& part : split(gres, ',')) {
        const auto text = trim(part);
        const auto name = name_of(text);
        if (name == "gpu" || name == "gres/gpu") sum += count_of(text);
        if (name == "shard" || name == "mps") sum += 1;
    }
    return sum;
}

}  // namespace

std::string gres_with_gpus(const std::string& gres, unsigned count)
{
    std::vector<std::string> parts;
    std::string gpu = "gpu";
    for (const auto& part : split(gres, ',')) {
        const std::string text(trim(part));
        if (text.empty()) continue;
        const auto name = name_of(text);
        if (name != "gpu" && name != "shard" && name != "mps") parts.push_back(text);
        if (name != "gpu") continue;
        auto words = split(std::string_view(text).substr(0, text.find('(')), ':');
        if (words.size() > 1 && parse_integer(words.back())) words.pop_back();
        gpu = join(words, ":");
    }
    if (count > 0) parts.insert(parts.begin(), fmt::format("{}:{}", gpu, count));
    return join(parts, ",");
}

void set_gpus(model::SlurmSpec& slurm, unsigned count)
{
    slurm.gres = gres_with_gpus(slurm.gres, count);
    std::erase_if(slurm.options, [](std::string_view word) {
        return word.starts_with("--gpus") || word.starts_with("--tres-per-");
    });
}

unsigned gpus_of(const model::SlurmSpec& slurm)
{
    unsigned sum = gpus_in(slurm.gres);
    static constexpr std::array options{
        "--gpus=", "--gpus-per-node=", "--gpus-per-task=", "--gpus-per-socket="};
    for (const std::string_view word : slurm.options) {
        for (const std::string_view option : options) {
            if (!word.starts_with(option)) continue;
            // A list of types, each with its number.
            for (const auto& part : split(word.substr(option.size()), ','))
                sum += count_of(trim(part));
        }
        constexpr std::string_view tres = "--tres-per-";
        if (word.starts_with(tres) && word.find('=') != std::string_view::npos)
            sum += gpus_in(std::string(word.substr(word.find('=') + 1)));
    }
    return sum;
}

}  // namespace ponk::engine
