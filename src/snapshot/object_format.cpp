// SPDX-License-Identifier: Apache-2.0
#include "snapshot/object_format.hpp"

#include <zstd.h>

#include <cstring>

namespace ponk::snapshot {

namespace {

// Below this a file rarely saves a disk block, and reading it back should cost one read.
constexpr std::size_t smallest_compressed = std::size_t{16} << 10;
constexpr std::size_t sample_size = std::size_t{64} << 10;
constexpr int level = 1;

// Worth the time to expand it again: at least an eighth smaller.
bool pays(std::size_t before, std::size_t after)
{
    return after + before / 8 <= before;
}

}  // namespace

struct ObjectEncoder::State {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::string buffer;

    std::optional<std::size_t> compress(std::string_view content, std::size_t offset)
    {
        const auto room = ZSTD_compressBound(content.size());
        if (buffer.size() < offset + room) buffer.resize(offset + room);
        const auto size = ZSTD_compressCCtx(
            context, buffer.data() + offset, room, content.data(), content.size(), level);
        if (ZSTD_isError(size) != 0) return std::nullopt;
        return size;
    }
};

ObjectEncoder::ObjectEncoder() : state_(std::make_unique<State>()) {}

ObjectEncoder::~ObjectEncoder()
{
    ZSTD_freeCCtx(state_->context);
}

Result<std::string_view> ObjectEncoder::encode(std::string_view content)
{
    const bool must = is_compressed(content);
    if (!must) {
        if (content.size() < smallest_compressed) return content;
        // A sample from the middle tells noise (images, archives, weights) at little cost.
        if (content.size() > 4 * sample_size) {
            const auto sample = content.substr(content.size() / 2, sample_size);
            const auto size = state_->compress(sample, 0);
            if (size && !pays(sample.size(), *size)) return content;
        }
    }
    const auto size = state_->compress(content, compressed_head_size);
    if (!size) {
        if (!must) return content;
        return fail(ErrorKind::internal, "zstd could not compress {} bytes", content.size());
    }
    if (!must && !pays(content.size(), *size + compressed_head_size)) return content;
    const std::uint64_t length = content.size();
    std::memcpy(state_->buffer.data(), compressed_magic.data(), compressed_magic.size());
    std::memcpy(state_->buffer.data() + compressed_magic.size(), &length, sizeof length);
    return std::string_view(state_->buffer).substr(0, *size + compressed_head_size);
}

std::optional<std::uint64_t> compressed_content_size(std::string_view head)
{
    if (head.size() < compressed_head_size) return std::nullopt;
    std::uint64_t size = 0;
    std::memcpy(&size, head.data() + compressed_magic.size(), sizeof size);
    return size;
}

bool decode_object(std::string_view file, char* content, std::size_t size)
{
    if (compressed_content_size(file) != size) return false;
    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
    file.remove_prefix(compressed_head_size);
    return ZSTD_decompressDCtx(context.get(), content, size, file.data(), file.size()) == size;
}

}  // namespace ponk::snapshot
