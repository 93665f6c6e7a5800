// SPDX-License-Identifier: Apache-2.0
#include "net/request_reader.hpp"

#include <algorithm>

namespace ponk::net {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t header_limit = 32 * 1024;
// What an idle connection may keep of a large request's room.
constexpr std::size_t small_room = 8 * 1024;
// What frames of chunks may have beyond as many bytes as the data in them.
constexpr std::uint64_t frame_allowance = 16 * 1024;
// A petabyte: who says more is not believed, and need not send it first to hear so.
constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 50;
constexpr std::size_t least_body_room = 16 * 1024;
constexpr std::size_t most_body_room = 256 * 1024;

}  // namespace

void RequestReader::next_request()
{
    body_.reset();
    head_.emplace();
    head_->header_limit(header_limit);
    head_->body_limit(boost::none);  // the server has limits of its own, by route
    target_.clear();
    begun_ = false;
    frame_bytes_ = 0;
    data_bytes_ = 0;
    promised_bytes_ = 0;
    if (buffer_.size() == 0 && buffer_.capacity() > small_room) {
        buffer_.clear();
        buffer_.shrink_to_fit();
    }
}

RequestReader::Step RequestReader::read_head()
{
    while (!head_->is_header_done()) {
        if (buffer_.size() == 0) return Step::more;
        begun_ = true;
        error_code problem;
        const auto used = head_->put(buffer_.data(), problem);
        buffer_.consume(used);
        if (problem == http::error::need_more) {
            if (buffer_.size() <= header_limit) return Step::more;
            problem = http::error::header_limit;
        }
        if (problem) return fail(problem);
    }
    keep_head();
    if (!is_framed_plainly()) return Step::bad;
    if (!head_->is_done()) {
        body_.emplace(std::move(*head_));
        body_->eager(true);
        on_chunk_ = [this](std::uint64_t size, boost::beast::string_view, error_code& problem) {
            if (size > largest_chunk) problem = http::error::body_limit;
            promised_bytes_ += std::min(size, largest_chunk);
        };
        body_->on_chunk_header(on_chunk_);
    }
    return Step::ready;
}

// Where one reader sees the end of a request and another does not, what follows it is taken for a
// request of its own: how long it is must be said in one way, once. The same for whom it is meant.
bool RequestReader::is_framed_plainly()
{
    const auto& message = head_->get();
    const auto coding = message[http::field::transfer_encoding];
    const auto codings = message.count(http::field::transfer_encoding);
    const auto lengths = message.count(http::field::content_length);
    if (codings > 1 || (codings == 1 && !boost::beast::iequals(coding, "chunked"))) {
        problem_ = {
            501, "not an HTTP request that is understood: the only transfer encoding is 'chunked'"};
    } else if (codings + lengths > 1 ||
               message[http::field::content_length].find(',') != boost::beast::string_view::npos) {
        problem_ = {400, "not an HTTP request: it says its length more than once"};
    } else if (message.count(http::field::host) > 1) {
        problem_ = {400, "not an HTTP request: it names more than one host"};
    } else {
        return true;
    }
    return false;
}

void RequestReader::keep_head()
{
    const auto& message = head_->get();
    method_ = std::string(message.method_string());
    target_ = std::string(message.target());
    version_ = message.version();
    keep_alive_ = head_->keep_alive();
    expectation_ = std::string(message[http::field::expect]);
    body_size_.reset();
    if (const auto size = head_->content_length()) body_size_ = *size;
    headers_.clear();
    for (const auto& field : message)
        headers_.emplace_back(std::string(field.name_string()), std::string(field.value()));
}

RequestReader::Step RequestReader::read_body(std::string& out, std::size_t most)
{
    while (!has_all()) {
        if (buffer_.size() == 0) return Step::more;
        if (most == 0) return Step::piece;
        // Chunks have frames, so the body is never longer than what was received.
        const auto room = std::min(most, buffer_.size());
        const auto before = out.size();
        out.resize(before + room);
        auto& part = body_->get().body();
        part.data = out.data() + before;
        part.size = room;
        error_code problem;
        const auto used = body_->put(buffer_.data(), problem);
        const auto taken = room - part.size;
        buffer_.consume(used);
        out.resize(before + taken);
        most -= taken;
        data_bytes_ += taken;
        frame_bytes_ += used - taken;
        if (frame_bytes_ > frame_allowance + data_bytes_) {
            problem_ = {400, "the chunks of the body are too small: send larger ones"};
            return Step::bad;
        }
        if (problem == http::error::need_more) return Step::more;
        if (problem && problem != http::error::need_buffer) return fail(problem);
    }
    return Step::ready;
}

std::size_t RequestReader::body_room() const
{
    if (body_size_) return std::min<std::uint64_t>(*body_size_ - data_bytes_, most_body_room);
    return std::clamp<std::uint64_t>(data_bytes_, least_body_room, most_body_room);
}

RequestReader::Step RequestReader::fail(error_code code)
{
    const bool large = code == http::error::header_limit;
    // As far as it was read: errors are told in the words of what was asked for.
    if (target_.empty()) target_ = std::string(head_->get().target());
    problem_ = {large ? 431 : 400,
                large ? "the head of the request is too large"
                      : "not an HTTP request: " + code.message()};
    return Step::bad;
}

}  // namespace ponk::net
