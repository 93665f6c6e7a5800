// SPDX-License-Identifier: Apache-2.0
#include "model/event_file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/wire_reader.hpp"

#include <cmath>
#include <limits>

namespace ponk::model {

namespace {

using Kind = WireReader::Field::Kind;

constexpr std::size_t longest_key = 250;  // code points

// The checksum as these files have it: turned and shifted, so that checksums of bytes which hold
// checksums are sound.
std::uint32_t masked_checksum(std::string_view bytes)
{
    const auto plain = crc32c(bytes);
    return ((plain >> 15U) | (plain << 17U)) + 0xa282ead8U;
}

std::uint64_t little_endian(std::string_view bytes)
{
    return WireReader(bytes).fixed(bytes.size()).value_or(0);
}

// The types of tensors whose one element can be a metric.
enum class TensorType : std::uint64_t {
    float32 = 1,
    float64 = 2,
    int32 = 3,
    uint8 = 4,
    int16 = 5,
    int8 = 6,
    int64 = 9,
    boolean = 10,
    bfloat16 = 14,
    uint16 = 17,
    float16 = 19,
    uint32 = 22,
    uint64 = 23,
};

double half_of_bits(std::uint64_t bits)
{
    const auto exponent = static_cast<int>((bits >> 10U) & 0x1fU);
    const auto fraction = static_cast<double>(bits & 0x3ffU);
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31) {
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double signed_of_bits(std::uint64_t bits, unsigned size)
{
    const auto shift = 64 - 8 * size;
    return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
}

struct Element {
    unsigned size;  // bytes
    double (*value)(std::uint64_t bits);
};

// How one element lies in `tensor_content`.
std::optional<Element> element_of(std::uint64_t type)
{
    switch (static_cast<TensorType>(type)) {
    case TensorType::float32:
        return Element{4, float_of_bits};
    case TensorType::float64:
        return Element{8, double_of_bits};
    case TensorType::int32:
        return Element{4, [](std::uint64_t bits) { return signed_of_bits(bits, 4); }};
    case TensorType::int16:
        return Element{2, [](std::uint64_t bits) { return signed_of_bits(bits, 2); }};
    case TensorType::int8:
        return Element{1, [](std::uint64_t bits) { return signed_of_bits(bits, 1); }};
    case TensorType::int64:
        return Element{8, [](std::uint64_t bits) { return signed_of_bits(bits, 8); }};
    case TensorType::boolean:
        return Element{1, [](std::uint64_t bits) { return bits != 0 ? 1.0 : 0.0; }};
    case TensorType::uint8:
        return Element{1, [](std::uint64_t bits) { return static_cast<double>(bits); }};
    case TensorType::uint16:
        return Element{2, [](std::uint64_t bits) { return static_cast<double>(bits); }};
    case TensorType::uint32:
        return Element{4, [](std::uint64_t bits) { return static_cast<double>(bits); }};
    case TensorType::uint64:
        return Element{8, [](std::uint64_t bits) { return static_cast<double>(bits); }};
    case TensorType::bfloat16:
        return Element{2, [](std::uint64_t bits) { return float_of_bits(bits << 16U); }};
    case TensorType::float16:
        return Element{2, half_of_bits};
    }
    return std::nullopt;
}

// Without dimensions, or with dimensions of one element each.
bool is_shape_of_one(std::string_view bytes)
{
    WireReader shape(bytes);
    while (const auto field = shape.next()) {
        if (!field->is(2, Kind::bytes)) continue;
        std::uint64_t size = 0;
        WireReader dimension(field->bytes);
        while (const auto part = dimension.next()) {
            if (part->is(1, Kind::varint)) size = part->value;
        }
        if (dimension.failed() || size != 1) return false;
    }
    return !shape.failed();
}

// Numbers of a list, of which it matters whether there is exactly one.
class OneNumber {
public:
    void add(double value)
    {
        value_ = value;
        ++count_;
    }
    template <class Convert>
    void add_list(const WireReader::Field& field, unsigned size, Convert f)
    {
        if (field.kind != Kind::bytes) return add(f(field.value));
        WireReader list(field.bytes);
        while (!list.at_end() && count_ < 2) {
            const auto bits = size == 0 ? list.varint() : list.fixed(size);
            if (!bits) return;
            add(f(*bits));
        }
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] double value() const noexcept { return value_; }

private:
    double value_ = 0;
    std::size_t count_ = 0;
};

enum class Plugin { unknown, scalars, other };

// The one number of a tensor; nullopt when it is none, or several.
std::optional<double> scalar_of_tensor(std::string_view bytes, Plugin plugin)
{
    std::uint64_t type = 0;
    std::string_view content;
    OneNumber number;
    bool one_element = true;
    WireReader tensor(bytes);
    while (const auto field = tensor.next()) {
        switch (field->number) {
        case 1:
            type = field->value;
            break;
        case 2:
            one_element = is_shape_of_one(field->bytes);
            break;
        case 4:
            content = field->bytes;
            break;
        case 5:
            number.add_list(*field, 4, float_of_bits);
            break;
        case 6:
            number.add_list(*field, 8, double_of_bits);
            break;
        case 7:
        case 10:
            number.add_list(*field, 0, [](std::uint64_t bits) { return signed_of_bits(bits, 8); });
            break;
        case 11:
        case 16:
        case 17:
            number.add_list(
                *field, 0, [](std::uint64_t bits) { return static_cast<double>(bits); });
            break;
        case 13:
            number.add_list(*field, 0, [&type](std::uint64_t bits) {
                return static_cast<TensorType>(type) == TensorType::bfloat16
                           ? float_of_bits(bits << 16U)
                           : half_of_bits(bits);
            });
            break;
        default:
            break;
        }
    }
    const auto element = element_of(type);
    if (tensor.failed() || !element || !one_element || number.count() > 1) return std::nullopt;
    if (number.count() == 1) return number.value();
    if (content.size() == element->size) return element->value(little_endian(content));
    // Zeros need not be written down; nor need anything for a value that only has metadata.
    if (content.empty() && plugin == Plugin::scalars) return 0.0;
    return std::nullopt;
}

Plugin plugin_of(std::string_view metadata)
{
    auto plugin = Plugin::unknown;
    WireReader reader(metadata);
    while (const auto field = reader.next()) {
        if (!field->is(1, Kind::bytes)) continue;
        WireReader data(field->bytes);
        while (const auto part = data.next()) {
            if (part->is(1, Kind::bytes))
                plugin = part->bytes == "scalars" ? Plugin::scalars
                         : part->bytes.empty()    ? Plugin::unknown
                                                  : Plugin::other;
        }
    }
    return plugin;
}

// True when the bytes are a value, whatever it is of.
bool add_value(std::string_view bytes, Event& event)
{
    Event::Scalar scalar;
    std::optional<double> simple;
    std::optional<std::string_view> tensor;
    auto plugin = Plugin::unknown;
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
        if (field->is(1, Kind::bytes)) scalar.tag = field->bytes;
        if (field->is(2, Kind::fixed32)) simple = field->as_float();
        if (field->is(8, Kind::bytes)) tensor = field->bytes;
        if (field->is(9, Kind::bytes)) plugin = plugin_of(field->bytes);
    }
    if (reader.failed()) return false;
    auto value = simple;
    if (!value && tensor) value = scalar_of_tensor(*tensor, plugin);
    const bool is_ours = plugin != Plugin::other && !scalar.tag.starts_with("_hparams_/");
    if (!value || !is_ours) {
        ++event.others;
        return true;
    }
    scalar.value = *value;
    event.scalars.push_back(std::move(scalar));
    return true;
}

bool add_summary(std::string_view bytes, Event& event)
{
    WireReader summary(bytes);
    while (const auto field = summary.next()) {
        if (field->is(1, Kind::bytes) && !add_value(field->bytes, event)) return false;
    }
    return !summary.failed();
}

std::int64_t milliseconds_of(double seconds)
{
    // No clock says so; times of the year 300,000 must not become undefined.
    if (!std::isfinite(seconds) || std::fabs(seconds) > 9e12) return 0;
    return std::llround(seconds * 1000);
}

bool may_be_in_key(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ' ' || c == ':';
}

void append_part(std::string& key, std::string_view part)
{
    if (part.empty() || part == ".") return;
    if (!key.empty()) key += '/';
    if (part == "..") part = "_";
    for (std::size_t i = 0; i < part.size();) {
        const auto length = utf8_sequence(part.substr(i));
        // Words of any language stay.
        if (length > 1)
            key += part.substr(i, length);
        else
            key += may_be_in_key(part[i]) ? part[i] : '_';
        i += std::max<std::size_t>(length, 1);
    }
}

void append_parts(std::string& key, std::string_view path)
{
    for (;;) {
        const auto slash = path.find('/');
        append_part(key, path.substr(0, slash));
        if (slash == std::string_view::npos) return;
        path.remove_prefix(slash + 1);
    }
}

}  // namespace

std::optional<std::uint64_t> event_record_size(std::string_view head)
{
    if (head.size() != event_head_size) return std::nullopt;
    if (masked_checksum(head.substr(0, 8)) != little_endian(head.substr(8))) return std::nullopt;
    const auto length = little_endian(head.substr(0, 8));
    if (length > event_length_limit) return std::nullopt;
    return length + event_head_size + event_tail_size;
}

std::optional<std::string_view> event_of_record(std::string_view record)
{
    if (record.size() < event_head_size + event_tail_size) return std::nullopt;
    const auto bytes =
        record.substr(event_head_size, record.size() - event_head_size - event_tail_size);
    if (masked_checksum(bytes) != little_endian(record.substr(record.size() - event_tail_size)))
        return std::nullopt;
    return bytes;
}

std::optional<Event> parse_event(std::string_view bytes)
{
    Event event;
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
        if (field->is(1, Kind::fixed64)) event.time = milliseconds_of(field->as_double());
        if (field->is(2, Kind::varint)) event.step = static_cast<std::int64_t>(field->value);
        if (field->is(5, Kind::bytes) && !add_summary(field->bytes, event)) return std::nullopt;
    }
    if (reader.failed()) return std::nullopt;
    return event;
}

std::string metric_of_tag(std::string_view folder, std::string_view tag)
{
    std::string name;
    append_parts(name, tag);
    if (name.empty()) return name;
    std::string key;
    append_parts(key, folder);
    if (!key.empty()) key += '/';
    key += name;
    // Cut between characters.
    std::size_t end = 0;
    for (std::size_t points = 0; end < key.size() && points < longest_key; ++points)
        end += std::max<std::size_t>(utf8_sequence(std::string_view(key).substr(end)), 1);
    key.resize(std::min(end, key.size()));
    while (key.ends_with('/'))
        key.pop_back();
    return key;
}

}  // namespace ponk::model
