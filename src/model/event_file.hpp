// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// TensorBoard's event files: records with a frame (length, checksum of it, bytes, checksum of them)
// that hold protocol buffer messages. docs/design/tensorboard.md says what of them is read.
namespace ponk::model {

// Before and behind the bytes of a record.
constexpr std::size_t event_head_size = 12;
constexpr std::size_t event_tail_size = 4;
// Protocol buffers are never larger; who claims more is damaged.
constexpr std::uint64_t event_length_limit = std::uint64_t{1} << 31;
// Numbers are in small records: a larger one (a graph, a film) is passed over unread.
constexpr std::size_t event_size_read = std::size_t{4} << 20;

// Length of the record whose first bytes these are, frame included; nullopt when they are not such
// bytes. `head` has `event_head_size` of them.
std::optional<std::uint64_t> event_record_size(std::string_view head);

// What a whole record with its frame holds; nullopt when its checksum does not fit.
std::optional<std::string_view> event_of_record(std::string_view record);

// What one event says.
struct Event {
    struct Scalar {
        std::string tag;
        double value = 0;
    };
    std::int64_t time = 0;  // wall-clock milliseconds
    std::int64_t step = 0;
    std::vector<Scalar> scalars;
    std::size_t others = 0;  // values that are not numbers: histograms, images, texts
};

// nullopt when these are not bytes of an event.
std::optional<Event> parse_event(std::string_view bytes);

// The metric that a tag becomes: below the name of its folder, as TensorBoard shows it, made of
// what the keys of metrics may be made of. Empty when nothing is left of the tag.
std::string metric_of_tag(std::string_view folder, std::string_view tag);

}  // namespace ponk::model
