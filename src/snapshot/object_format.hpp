// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// How an object's file holds its content: as it is, or behind a 16-byte head as one zstd frame.
// Content that happens to begin with the head's magic is always stored behind a head.
namespace ponk::snapshot {

inline constexpr std::string_view compressed_magic{"\x89PONKz1\n", 8};
inline constexpr std::size_t compressed_head_size = 16;

// True when a file that begins with `bytes` is in the compressed form.
inline bool is_compressed(std::string_view bytes)
{
    return bytes.substr(0, compressed_magic.size()) == compressed_magic;
}

// Decides and compresses. One per thread.
class ObjectEncoder {
public:
    ObjectEncoder();
    ~ObjectEncoder();
    ObjectEncoder(const ObjectEncoder&) = delete;
    ObjectEncoder& operator=(const ObjectEncoder&) = delete;

    // The bytes to write: `content` itself where compressing does not pay, else a view of the
    // encoder's own buffer, valid until the next call.
    Result<std::string_view> encode(std::string_view content);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Takes the file of an object piece by piece and tells what it holds, in little memory however
// large that is: the file may come from somebody who wants ours. One thread.
class ContentCheck {
public:
    // What is larger when expanded is nothing that could be read back.
    static constexpr std::uint64_t largest_content = std::uint64_t{1} << 30;

    ContentCheck();
    ~ContentCheck();
    ContentCheck(const ContentCheck&) = delete;
    ContentCheck& operator=(const ContentCheck&) = delete;

    void take(std::string_view bytes);
    // After the last piece: true when the content has this digest.
    bool holds(const Digest& digest);

private:
    struct State;
    void expand(std::string_view bytes);
    std::unique_ptr<State> state_;
};

// The content's size from the head of a compressed file; nullopt when `head` is too short.
std::optional<std::uint64_t> compressed_content_size(std::string_view head);
// Expands a whole compressed file to exactly `size` bytes; false when that is not what it holds.
bool decode_object(std::string_view file, char* content, std::size_t size);

}  // namespace ponk::snapshot
