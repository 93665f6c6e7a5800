// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "model/event_file.hpp"

#include <cstdint>
#include <cstdlib>

// Any bytes as a file of records, and as an event by themselves: checksums would keep a fuzzer from
// ever coming to what lies behind them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::model;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto look = [](std::string_view event_bytes) {
        const auto event = parse_event(event_bytes);
        if (!event) return;
        for (const auto& scalar : event->scalars) {
            const auto key = metric_of_tag("folder", scalar.tag);
            if (!ponk::is_utf8(key) || key.starts_with('/') || key.ends_with('/')) std::abort();
            if (key.find("//") != std::string::npos) std::abort();
        }
    };
    look(bytes);
    for (std::size_t at = 0; size - at >= event_head_size;) {
        const auto head = bytes.substr(at, event_head_size);
        const auto length = event_record_size(head);
        if (length && (*length < event_head_size + event_tail_size)) std::abort();
        if (!length) break;
        if (*length > size - at) break;
        const auto record = bytes.substr(at, *length);
        if (const auto event = event_of_record(record)) look(*event);
        // Also where the checksum is wrong.
        look(record.substr(event_head_size, record.size() - event_head_size - event_tail_size));
        at += *length;
    }
    return 0;
}
