// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration document, then as every kind of file: nothing may crash, and what
// was read must stay within the limits and know its places.
#include "config/files/compute.hpp"
#include "config/files/conda.hpp"
#include "config/files/mlproject.hpp"
#include "config/files/run_configuration.hpp"
#include "config/files/spark.hpp"
#include "config/project/project.hpp"
#include "work_bound.hpp"

#include <cstdint>
#include <cstdlib>

using namespace ponk::config;

namespace {

std::size_t count(const Node& node, std::size_t depth)
{
    if (depth > 64) std::abort();
    std::size_t nodes = 1;
    for (const auto& item : node.items)
        nodes += count(item, depth + 1);
    for (const auto& member : node.members) {
        if (member.place.line == 0) std::abort();
        nodes += count(member.value, depth + 1);
    }
    return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const WorkBound bound(size, 4'000);  // a hint for each key that is not known
    const std::string text(reinterpret_cast<const char*>(data), size);
    Report report("f");
    const auto root = read_document(text, report);
    if (!root) {
        if (!report.has_errors()) std::abort();
        return 0;
    }
    if (count(*root, 0) > DocumentLimits{}.nodes) std::abort();
    (void)meaning_of(read_compute(*root, "t", report));
    (void)meaning_of(read_run_configuration(*root, "r", report));
    (void)meaning_of(read_conda(*root, report));
    (void)meaning_of(read_spark(*root, report));
    (void)meaning_of(read_mlproject(*root, report));
    (void)meaning_of(read_project_identity(*root, report));
    for (const auto& diagnostic : report.diagnostics()) {
        if (diagnostic.code.empty() || diagnostic.message.empty()) std::abort();
    }
    return 0;
}
