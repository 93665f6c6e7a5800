// SPDX-License-Identifier: Apache-2.0
#include "config/files/gpu_keys.hpp"

#include "base/text.hpp"
#include "model/gpu_selection.hpp"

namespace ponk::config {

namespace {

// A list is names: [1] is the GPU in place 1, and one without any is none at all.
void read_gpus(const SectionReader& reader, Located<std::string>& out)
{
    const Node* value = reader.find("gpus");
    if (value == nullptr || !value->is_list()) return reader.read("gpus", out);
    model::GpuSelection selection;
    for (const auto& item : value->items)
        selection.uuids.emplace_back(trim(item.text));
    if (!selection.uuids.empty()) selection.kind = model::GpuSelection::Kind::named;
    out = {model::to_text(selection), value->place};
}

void read_gpu(const SectionReader& reader, Located<GpuPolicy>& out)
{
    Located<std::string> word;
    reader.read("gpu", word);
    if (!word.given()) return;
    const auto text = lower(*word);
    out = {text == "required" ? GpuPolicy::required
           : text == "none"   ? GpuPolicy::none
                              : GpuPolicy::automatic,
           word.place};
}

}  // namespace

const char* to_string(GpuPolicy selection)
{
    switch (selection) {
    case GpuPolicy::automatic:
        return "auto";
    case GpuPolicy::required:
        return "required";
    case GpuPolicy::none:
        return "none";
    }
    return "auto";
}

bool asks_for_no_gpu(const Located<std::string>& gpus)
{
    const auto selection = model::parse_gpu_selection(*gpus);
    return selection && selection->kind == model::GpuSelection::Kind::none;
}

void read_gpu_keys(const SectionReader& reader, const GpuKeys& keys, Report& report)
{
    read_gpus(reader, keys.gpus);
    read_gpu(reader, keys.gpu);
    reader.read_seconds("gpuGrace", keys.grace_seconds);
    if (keys.gpus->empty()) return;
    const auto place = keys.gpus.place;
    if (const auto selection = model::parse_gpu_selection(*keys.gpus); !selection) {
        report.error(place,
                     "wrong-value",
                     "'gpus': " + selection.error().message(),
                     selection.error().hint());
    } else if (selection->kind == model::GpuSelection::Kind::none &&
               *keys.gpu == GpuPolicy::required) {
        report.error(place,
                     "contradiction",
                     fmt::format("'gpu: required' and 'gpus: {}' contradict each other",
                                 printable(*keys.gpus)),
                     "Request GPUs with 'gpus', or remove 'gpu: required'.");
    } else if (selection->kind != model::GpuSelection::Kind::none && *keys.gpu == GpuPolicy::none) {
        report.error(
            place,
            "contradiction",
            fmt::format("'gpu: none' and 'gpus: {}' contradict each other", printable(*keys.gpus)),
            "Remove one of them.");
    }
}

}  // namespace ponk::config
