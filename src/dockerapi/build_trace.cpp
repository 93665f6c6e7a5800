// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/progress.hpp"

#include <cstdint>

namespace ponk::dockerapi {

namespace {

// The wire format of Protocol Buffers, as far as BuildKit's StatusResponse needs it.
class Fields {
public:
    explicit Fields(std::string_view bytes) : bytes_(bytes) {}

    // False at the end or when the bytes are none; `good` tells which.
    bool next()
    {
        if (bytes_.empty()) return false;
        const auto key = number();
        field_ = static_cast<int>(key >> 3);
        value_ = 0;
        text_ = {};
        switch (key & 7U) {
        case 0:
            value_ = number();
            break;
        case 1:
            text_ = take(8);
            break;
        case 2:
            text_ = take(number());
            break;
        case 5:
            text_ = take(4);
            break;
        default:
            good_ = false;
        }
        return good_;
    }
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] int field() const { return field_; }
    [[nodiscard]] std::uint64_t value() const { return value_; }
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    std::uint64_t number()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) break;
            const auto byte = static_cast<unsigned char>(bytes_.front());
            bytes_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        good_ = false;
        return 0;
    }

    std::string_view take(std::uint64_t length)
    {
        if (length > bytes_.size()) {
            good_ = false;
            return {};
        }
        const auto part = bytes_.substr(0, length);
        bytes_.remove_prefix(length);
        return part;
    }

    std::string_view bytes_;
    std::string_view text_;
    std::uint64_t value_ = 0;
    int field_ = 0;
    bool good_ = true;
};

bool read_step(std::string_view bytes, BuildTrace::Step& step)
{
    Fields fields(bytes);
    while (fields.next()) {
        switch (fields.field()) {
        case 1:
            step.digest = fields.text();
            break;
        case 3:
            step.name = fields.text();
            break;
        case 4:
            step.cached = fields.value() != 0;
            break;
        case 5:
            step.started = true;
            break;
        case 6:
            step.completed = true;
            break;
        case 7:
            step.error = fields.text();
            break;
        default:
            break;
        }
    }
    return fields.good();
}

bool read_log(std::string_view bytes, BuildTrace::Log& log)
{
    Fields fields(bytes);
    while (fields.next()) {
        if (fields.field() == 1) log.step = fields.text();
        if (fields.field() == 4) log.bytes = fields.text();
    }
    return fields.good();
}

}  // namespace

std::optional<BuildTrace> parse_build_trace(std::string_view bytes)
{
    BuildTrace trace;
    Fields fields(bytes);
    while (fields.next()) {
        if (fields.field() == 1 && !read_step(fields.text(), trace.steps.emplace_back()))
            return std::nullopt;
        if (fields.field() == 3 && !read_log(fields.text(), trace.logs.emplace_back()))
            return std::nullopt;
    }
    if (!fields.good()) return std::nullopt;
    return trace;
}

}  // namespace ponk::dockerapi
