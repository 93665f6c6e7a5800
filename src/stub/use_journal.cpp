// SPDX-License-Identifier: Apache-2.0
#include "stub/use_journal.hpp"

#include "stub/files.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

// A look at all processes takes about a millisecond for a hundred of them.
constexpr std::int64_t first_ms = 5000;
constexpr std::int64_t pause_ms = 5000;
constexpr std::int64_t long_run_ms = 3'600'000;
constexpr std::int64_t long_pause_ms = 30'000;

std::uint32_t crc32(const char* bytes, std::size_t size)
{
    std::uint32_t sum = 0xffffffffU;
    for (std::size_t i = 0; i < size; ++i) {
        sum ^= static_cast<unsigned char>(bytes[i]);
        for (int bit = 0; bit < 8; ++bit)
            sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return ~sum;
}

}  // namespace

void UseJournal::begin(std::int64_t now)
{
    if (started_ == 0) started_ = now;
    at_ = started_;
    next_ = now - started_ < first_ms ? started_ + first_ms : now;
    // Taken over from a killed supervisor: what was used until now belongs to no interval of ours.
    if (now - started_ >= first_ms) {
        before_ = measure_use();
        at_ = now;
        next_ = now + pause_ms;
    }
}

void UseJournal::sample(std::int64_t now)
{
    next_ = now + (now - started_ < long_run_ms ? pause_ms : long_pause_ms);
    if (!opened_) open();
    if (file_ < 0) {
        next_ = INT64_MAX;
        return;
    }
    const auto use = measure_use();
    const auto used = use.cpu_ms > before_.cpu_ms ? use.cpu_ms - before_.cpu_ms : 0;
    const auto span = now > at_ ? now - at_ : 1;
    const auto step = static_cast<long long>((now - started_) / 1000);
    const auto time = static_cast<long long>(wall_ms());
    Line<1024> line;
    line.add("{\"points\":[[\"system/run.cpu_utilization_percentage\",%.1f,%lld,%lld],"
             "[\"system/run.memory_usage_megabytes\",%.1f,%lld,%lld]]}",
             100.0 * static_cast<double>(used) / static_cast<double>(span),
             step,
             time,
             static_cast<double>(use.memory) / 1e6,
             step,
             time);
    write(line.text, line.size);
    before_ = use;
    at_ = now;
}

// The script may have put anything in the place of the folder: no link is followed.
void UseJournal::open()
{
    opened_ = true;
    ::mkdir("journal", 0700);
    const int folder = ::open("journal", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    char name[64];
    std::snprintf(name, sizeof name, "use-%d.journal", ::getpid());
    file_ = ::openat(
        folder, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    ::close(folder);
    Line<1024> line;
    line.add("{\"journal\":1,\"run\":\"%s\",\"pid\":%d,\"time\":%lld}",
             run_,
             ::getpid(),
             static_cast<long long>(wall_ms()));
    if (file_ >= 0) write(line.text, line.size);
}

void UseJournal::write(const char* payload, std::size_t size) const
{
    Line<8192> record;
    record.add("\x1e%08x %s\n", crc32(payload, size), payload);
    [[maybe_unused]] const auto put = ::write(file_, record.text, record.size);
}

}  // namespace ponk::stub
