// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/wire/frame_stream.hpp"

#include "base/take.hpp"
#include "os/wait.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::executor::remote {

namespace {

constexpr std::size_t most_queued = std::size_t{8} << 20;
constexpr std::size_t read_at_once = std::size_t{256} << 10;

}  // namespace

void make_nonblocking(int fd)
{
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Result<> write_patiently(int fd,
                         std::string_view bytes,
                         std::chrono::milliseconds patience,
                         const std::stop_token& stop)
{
    while (!bytes.empty()) {
        const auto put = ::write(fd, bytes.data(), bytes.size());
        if (put > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(put));
        } else if (put < 0 && errno == EAGAIN) {
            TRY(os::wait_writable(fd, after(patience), stop));
        } else if (put < 0 && errno != EINTR) {
            return fail_errno(errno, "send");
        }
    }
    return {};
}

Result<std::string> read_some(int fd, Deadline deadline, const std::stop_token& stop)
{
    std::string block(read_at_once, '\0');
    for (;;) {
        TRY(os::wait_readable(fd, deadline, stop));
        const auto got = ::read(fd, block.data(), block.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_errno(errno, "receive");
        block.resize(static_cast<std::size_t>(got));
        return block;
    }
}

FrameWriter::FrameWriter(int fd, std::function<void(const Error&)> on_failure)
    : fd_(fd), on_failure_(std::move(on_failure)),
      thread_([this](const std::stop_token& stop) { work(stop); })
{
}

FrameWriter::~FrameWriter()
{
    thread_.request_stop();
    changed_.notify_all();
}

bool FrameWriter::put(std::string bytes, const std::stop_token& stop)
{
    auto queue = queue_.lock();
    changed_.wait(queue.native(), stop, [&] { return queue->dead || queue->bytes < most_queued; });
    if (queue->dead || stop.stop_requested()) return false;
    queue->bytes += bytes.size();
    queue->waiting.push_back(std::move(bytes));
    changed_.notify_all();
    return true;
}

void FrameWriter::drain(Deadline deadline)
{
    auto queue = queue_.lock();
    changed_.wait_until(queue.native(), deadline, [&] { return queue->dead || queue->bytes == 0; });
}

void FrameWriter::work(const std::stop_token& stop)
{
    for (;;) {
        std::string bytes;
        {
            auto queue = queue_.lock();
            changed_.wait(queue.native(), stop, [&] { return !queue->waiting.empty(); });
            if (stop.stop_requested()) break;
            bytes = take_front(queue->waiting);
        }
        const auto written = write_patiently(fd_, bytes, patience, stop);
        auto queue = queue_.lock();
        queue->bytes -= bytes.size();
        queue->dead = !written;
        changed_.notify_all();
        if (written) continue;
        queue.native().unlock();
        if (!stop.stop_requested()) on_failure_(written.error());
        return;
    }
    queue_.lock()->dead = true;
    changed_.notify_all();
}

}  // namespace ponk::executor::remote
