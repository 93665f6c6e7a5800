// SPDX-License-Identifier: Apache-2.0
#include "stub/log.hpp"

#include "stub/files.hpp"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

constexpr std::uint64_t reserve = 4U << 20U;
constexpr std::uint64_t disk_block = 4096;
constexpr std::uint64_t most_holes = std::uint64_t{1} << 30U;

std::uint64_t size_of(int fd)
{
    struct stat info {};
    return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

void Log::open(int fd)
{
    fd_ = fd;
    keep_room(size_of(fd));
    open_up();
    reader_ = ::open("log", O_RDONLY | O_CLOEXEC);
    watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch_ >= 0) ::inotify_add_watch(watch_, "log", IN_MODIFY);
    started_ = boot_ms();
}

void Log::forget_events() const
{
    char events[4096];
    while (::read(watch_, events, sizeof events) > 0)
        continue;
}

void Log::mark(std::uint64_t size)
{
    const auto now = boot_ms();
    if (size == marked_size_ || now < next_mark_) return;
    if (times_ < 0) times_ = ::open("times", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    timespec steady{};
    timespec wall{};
    ::clock_gettime(CLOCK_MONOTONIC, &steady);
    ::clock_gettime(CLOCK_REALTIME, &wall);
    Line<1024> line;
    line.add("%llu %lld%09ld %lld%09ld\n",
             static_cast<unsigned long long>(size),
             static_cast<long long>(steady.tv_sec),
             steady.tv_nsec,
             static_cast<long long>(wall.tv_sec),
             wall.tv_nsec);
    [[maybe_unused]] const auto put = ::write(times_, line.text, line.size);
    marked_size_ = size;
    // Long runs need no fine marks: a thousand per tenfold of time.
    const auto gap = (now - started_) / 1000;
    next_mark_ = now + (gap < 200 ? 200 : gap);
}

// As much as the disk has, behind the log's end. A write that finds no room ends where the room
// does: a log that ends there while there is not much more has most likely lost something, and one
// behind which there is not one block has nowhere to go on.
void Log::keep_room(std::uint64_t size)
{
    const bool used_up = size > 0 && size == reserved_end_;
    for (auto wanted = reserve; wanted >= disk_block; wanted /= 4) {
        const auto end = (size + wanted + disk_block - 1) / disk_block * disk_block;
        const int failed = ::fallocate(
            fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size), static_cast<off_t>(end - size));
        const bool no_room = failed != 0 && (errno == ENOSPC || errno == EDQUOT);
        if (no_room) continue;
        if (used_up && wanted < reserve) full_ = true;
        if (end > reserved_end_) reserved_end_ = end;
        return;
    }
    if (size >= reserved_end_) full_ = true;
}

bool Log::look(std::uint64_t budget)
{
    static unsigned char buffer[1U << 20U];
    const auto size = size_of(reader_);
    mark(size);
    if (size + reserve / 2 > reserved_end_) keep_room(size);
    if (size < hashed_) {  // somebody cut it
        hash_.start();
        hashed_ = 0;
        holes_ = holes_end_ = 0;
    }
    for (std::uint64_t done = 0; done < budget && hashed_ < size;) {
        count_hole();
        if (holes_ > most_holes) {
            hashed_ = size;
            return false;
        }
        const auto got = ::pread(reader_, buffer, sizeof buffer, static_cast<off_t>(hashed_));
        if (got <= 0) return false;
        hash_.update(buffer, static_cast<std::size_t>(got));
        hashed_ += static_cast<std::uint64_t>(got);
        done += static_cast<std::uint64_t>(got);
    }
    begin_writing();
    return hashed_ < size;
}

// A script can claim any length for its log without writing anything.
void Log::count_hole()
{
    if (hashed_ < holes_end_) return;
    const auto data = ::lseek(reader_, static_cast<off_t>(hashed_), SEEK_DATA);
    if (data < 0 && errno != ENXIO) return;
    holes_end_ = data < 0 ? size_of(reader_) : static_cast<std::uint64_t>(data);
    if (holes_end_ > hashed_) holes_ += holes_end_ - hashed_;
}

// The end of the run waits until all of the log is on the disk: most of it goes there meanwhile.
void Log::begin_writing()
{
    constexpr std::uint64_t worth_it = 16U << 20U;
    if (hashed_ < begun_) begun_ = 0;
    if (hashed_ - begun_ < worth_it) return;
    ::sync_file_range(reader_,
                      static_cast<off64_t>(begun_),
                      static_cast<off64_t>(hashed_ - begun_),
                      SYNC_FILE_RANGE_WRITE);
    begun_ = hashed_;
}

void Log::finish(char* digest)
{
    look(0);  // a script that filled the reserve between two looks: is there room behind it?
    reserved_end_ = ~std::uint64_t{0} / 2;  // no more
    while (look(~std::uint64_t{0}))
        continue;
    next_mark_ = 0;
    mark(hashed_);
    // The same size again: what was reserved behind the end is freed.
    [[maybe_unused]] const int freed = ::ftruncate(fd_, static_cast<off_t>(size_of(reader_)));
    if (hashed_ > 0) ::fdatasync(fd_);
    hash_.finish(digest);
    if (holes_ > most_holes) *digest = '\0';
}

}  // namespace ponk::stub
