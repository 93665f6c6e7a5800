// SPDX-License-Identifier: Apache-2.0
#include "snapshot/object_format.hpp"

#include <zstd.h>

#include <cstring>
#include <utility>

namespace ponk::snapshot {

namespace {

// Below this a file rarely saves a disk block, and reading it back should cost one read.
constexpr std::size_t smallest_compressed = std::size_t{16} << 10;
constexpr std::size_t sample_size = std::size_t{64} << 10;
constexpr int level = 1;
// Level 1 needs 19; a frame that asks for more than 8 MiB is none of ours.
constexpr int longest_window_log = 23;

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

struct ContentCheck::State {
    enum class Form { unknown, plain, compressed, wrong } form = Form::unknown;
    std::string head;  // until the form is known
    Sha256 hash;
    ZSTD_DCtx* context = ZSTD_createDCtx();
    std::string buffer;
    std::uint64_t left = 0;  // of the content that the head promises
    bool ended = false;      // the frame is whole

    ~State() { ZSTD_freeDCtx(context); }
};

ContentCheck::ContentCheck() : state_(std::make_unique<State>()) {}
ContentCheck::~ContentCheck() = default;

void ContentCheck::take(std::string_view bytes)
{
    using Form = State::Form;
    auto& state = *state_;
    if (state.form == Form::unknown) {
        state.head += bytes;
        if (state.head.size() < compressed_head_size) return;
        const auto first = std::exchange(state.head, {});
        if (!is_compressed(first)) {
            state.form = Form::plain;
            state.hash.update(first);
            return;
        }
        state.left = *compressed_content_size(first);
        state.form = state.left > largest_content ? Form::wrong : Form::compressed;
        ZSTD_DCtx_setParameter(state.context, ZSTD_d_windowLogMax, longest_window_log);
        state.buffer.resize(ZSTD_DStreamOutSize());
        expand(std::string_view(first).substr(compressed_head_size));
    } else if (state.form == Form::plain) {
        state.hash.update(bytes);
    } else {
        expand(bytes);
    }
}

void ContentCheck::expand(std::string_view bytes)
{
    auto& state = *state_;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool full = false; state.form == State::Form::compressed && (in.pos < in.size || full);) {
        ZSTD_outBuffer out{state.buffer.data(), state.buffer.size(), 0};
        const auto rest = state.ended ? 0 : ZSTD_decompressStream(state.context, &out, &in);
        if (state.ended || ZSTD_isError(rest) != 0 || out.pos > state.left) {
            state.form = State::Form::wrong;
            return;
        }
        state.left -= out.pos;
        state.hash.update(std::string_view(state.buffer).substr(0, out.pos));
        state.ended = rest == 0;
        full = !state.ended && out.pos == out.size;
    }
}

bool ContentCheck::holds(const Digest& digest)
{
    auto& state = *state_;
    if (state.form == State::Form::unknown) {  // too short for a head
        if (is_compressed(state.head)) return false;
        state.hash.update(state.head);
    } else if (state.form == State::Form::wrong ||
               (state.form == State::Form::compressed && (!state.ended || state.left > 0))) {
        return false;
    }
    return state.hash.finish() == digest;
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
