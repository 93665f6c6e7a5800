// SPDX-License-Identifier: Apache-2.0
// What an engine says while it works (pulls, builds, logs) and about its containers and images.
#include "dockerapi/container.hpp"
#include "dockerapi/image.hpp"
#include "dockerapi/progress.hpp"
#include "dockerapi/registry.hpp"

#include <cstdlib>

namespace {

using namespace ponk::dockerapi;

template <class Progress>
std::string told(std::string_view bytes, std::size_t piece)
{
    std::string lines;
    Progress progress([&lines](const std::string& line) { lines += line + "\n"; });
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        progress.take(bytes.substr(at, piece));
    return lines + (progress.result() ? "ok" : "failed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (told<PullProgress>(bytes, size + 1) != told<PullProgress>(bytes, 13)) std::abort();
    if (told<BuildProgress>(bytes, size + 1) != told<BuildProgress>(bytes, 13)) std::abort();
    if (without_frames(bytes).size() > size) std::abort();
    if (const auto trace = parse_build_trace(bytes)) {
        std::size_t length = 0;
        for (const auto& log : trace->logs)
            length += log.bytes.size();
        if (length > size) std::abort();
    }
    if (const auto json = ponk::parse_json(bytes)) {
        static_cast<void>(container_of(*json).label("ponk.run"));
        static_cast<void>(image_of(*json).label("ponk.environment"));
    }
    static_cast<void>(registry_of(std::string(bytes)));
    return 0;
}
