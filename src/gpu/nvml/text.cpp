// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/text.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ponk::nvml {

void Text::put(const char* bytes, std::size_t count)
{
    if (size_ + count > room_) {
        room_ = (size_ + count) * 2 + 4096;
        data_ = static_cast<char*>(std::realloc(data_, room_));
        if (!data_) std::abort();
    }
    std::memcpy(data_ + size_, bytes, count);
    size_ += count;
}

void Text::add(const char* text)
{
    put(text, std::strlen(text));
}

void Text::add_string(const char* text)
{
    put("\"", 1);
    for (; *text; ++text) {
        const char c = *text;
        if (c == '"' || c == '\\') {
            const char escaped[2] = {'\\', c};
            put(escaped, 2);
        } else {
            put(c >= ' ' && c < 127 ? text : "?", 1);
        }
    }
    put("\"", 1);
}

void Text::next()
{
    if (!first_) put(",", 1);
    first_ = false;
}

void Text::key(const char* name)
{
    next();
    add_string(name);
    put(":", 1);
}

void Text::member(const char* name, const char* value)
{
    key(name);
    add_string(value);
}

void Text::member(const char* name, std::uint64_t value)
{
    key(name);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%" PRIu64, value);
    add(digits);
}

void Text::member(const char* name, double value)
{
    key(name);
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.4f", value);
    add(digits);
}

void Text::open(char bracket)
{
    put(&bracket, 1);
    first_ = true;
}

void Text::close(char bracket)
{
    put(&bracket, 1);
    first_ = false;
}

}  // namespace ponk::nvml
