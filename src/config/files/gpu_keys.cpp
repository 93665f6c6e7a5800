// SPDX-License-Identifier: Apache-2.0
#include "config/files/gpu_keys.hpp"

#include "base/text.hpp"
#include "model/gpu_wish.hpp"

namespace ponk::config {

namespace {

// A list is names: [1] is the GPU in place 1, and one without any is none at all.
void read_gpus(const SectionReader& reader, Located<std::string>& out)
{
    const Node* value = reader.find("gpus");
    if (value == nullptr || !value->is_list()) return reader.read("gpus", out);
    model::GpuWish wish;
    for (const auto& item : value->items)
        wish.uuids.emplace_back(trim(item.text));
    if (!wish.uuids.empty()) wish.kind = model::GpuWish::Kind::named;
    out = {model::to_text(wish), value->place};
}

void read_gpu(const SectionReader& reader, Located<GpuWish>& out)
{
    Located<std::string> word;
    reader.read("gpu", word);
    if (!word.given()) return;
    const auto text = lower(*word);
    out = {text == "required" ? GpuWish::required
           : text == "none"   ? GpuWish::none
                              : GpuWish::automatic,
           word.place};
}

}  // namespace

const char* to_string(GpuWish wish)
{
    switch (wish) {
    case GpuWish::automatic:
        return "auto";
    case GpuWish::required:
        return "required";
    case GpuWish::none:
        return "none";
    }
    return "auto";
}

bool asks_for_no_gpu(const Located<std::string>& gpus)
{
    const auto wish = model::parse_wish(*gpus);
    return wish && wish->kind == model::GpuWish::Kind::none;
}

void read_gpu_keys(const SectionReader& reader, const GpuKeys& keys, Report& report)
{
    read_gpus(reader, keys.gpus);
    read_gpu(reader, keys.gpu);
    reader.read_seconds("gpuGrace", keys.grace_seconds);
    if (keys.gpus->empty()) return;
    const auto place = keys.gpus.place;
    if (const auto wish = model::parse_wish(*keys.gpus); !wish) {
        report.error(
            place, "wrong-value", "'gpus': " + wish.error().message(), wish.error().hint());
    } else if (wish->kind == model::GpuWish::Kind::none && *keys.gpu == GpuWish::required) {
        report.error(place,
                     "contradiction",
                     fmt::format("'gpu: required' and 'gpus: {}' contradict each other",
                                 printable(*keys.gpus)),
                     "Ask for GPUs, or remove 'gpu: required'.");
    } else if (wish->kind != model::GpuWish::Kind::none && *keys.gpu == GpuWish::none) {
        report.error(
            place,
            "contradiction",
            fmt::format("'gpu: none' and 'gpus: {}' contradict each other", printable(*keys.gpus)),
            "Remove one of them.");
    }
}

}  // namespace ponk::config
