// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ponk::nvml {

// One line of JSON as it grows. Memory that cannot be had ends the program: whoever asked starts
// another.
class Text {
public:
    void clear() { size_ = 0; }
    [[nodiscard]] const char* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    // As they are.
    void add(const char* text);
    // A JSON string; bytes that are not ASCII become '?', since drivers send none.
    void add_string(const char* text);
    // `"key":`, after a comma where one is needed.
    void key(const char* name);

    void member(const char* name, const char* value);
    void member(const char* name, std::uint64_t value);
    // A share or a physical value, with four digits after the point.
    void member(const char* name, double value);

    // '{' or '[' and their ends.
    void open(char bracket);
    void close(char bracket);
    // Before an element of a list.
    void next();

private:
    void put(const char* bytes, std::size_t count);

    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
    bool first_ = true;
};

}  // namespace ponk::nvml
