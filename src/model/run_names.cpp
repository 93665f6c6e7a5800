// SPDX-License-Identifier: Apache-2.0
#include "model/run_names.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

namespace ponk::model {

namespace {

// clang-format off
constexpr std::string_view manners[] = {
    "amber", "bold", "brave", "bright", "brisk", "calm", "candid", "careful", "cheerful",
    "clever", "cosy", "crisp", "curious", "daring", "deft", "eager", "early", "easy", "fair",
    "fancy", "fine", "fleet", "fond", "frank", "fresh", "gentle", "glad", "golden", "grand",
    "green", "happy", "hardy", "honest", "humble", "keen", "kind", "lively", "loyal", "lucky",
    "mellow", "merry", "mild", "modest", "neat", "nimble", "noble", "patient", "plain", "polite",
    "proud", "quick", "quiet", "rapid", "ready", "robust", "rustic", "sharp", "shiny", "silent",
    "simple", "smooth", "snug", "sober", "spry", "steady", "stout", "sturdy", "sunny", "swift",
    "tidy", "trusty", "vivid", "warm", "wise", "witty", "young", "zesty",
};

constexpr std::string_view things[] = {
    "acorn", "alder", "anvil", "arrow", "aspen", "badger", "barley", "basin", "beacon", "beaver",
    "birch", "bobbin", "brook", "cabin", "candle", "canoe", "cedar", "chisel", "cinder", "clover",
    "comet", "copper", "crane", "cricket", "dune", "easel", "elm", "ember", "falcon", "fern",
    "ferry", "finch", "fjord", "flint", "forge", "gecko", "glade", "gouge", "grove", "hammer",
    "harbor", "heron", "hinge", "iris", "ivy", "jay", "kettle", "ladder", "lagoon", "lantern",
    "larch", "lathe", "linden", "lynx", "mallet", "maple", "marten", "meadow", "mortar", "nettle",
    "oak", "oriole", "otter", "oyster", "pebble", "pine", "plane", "plum", "poplar", "quarry",
    "quill", "raft", "rasp", "raven", "ridge", "rivet", "robin", "rowan", "saddle", "sable",
    "sawyer", "sparrow", "spruce", "stork", "swallow", "thistle", "timber", "trowel", "tulip",
    "valley", "violet", "walnut", "willow", "wren",
};
// clang-format on

}  // namespace

std::string make_run_name()
{
    const auto bytes = random_bytes(6);
    const auto draw = [&bytes](std::size_t at, std::size_t among) {
        const auto high = static_cast<unsigned char>(bytes[at]);
        const auto low = static_cast<unsigned char>(bytes[at + 1]);
        return (std::size_t{high} * 256 + low) % among;
    };
    return fmt::format("{}-{}-{}",
                       manners[draw(0, std::size(manners))],
                       things[draw(2, std::size(things))],
                       draw(4, 1000));
}

}  // namespace ponk::model
