// SPDX-License-Identifier: Apache-2.0
#include "stub/files.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

std::int64_t clock_ms(clockid_t clock)
{
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

int write_all(int fd, const char* bytes, std::size_t size)
{
    std::size_t done = 0;
    while (done < size) {
        const auto put = ::pwrite(fd, bytes + done, size - done, static_cast<off_t>(done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put < 0 ? errno : EIO;
        done += static_cast<std::size_t>(put);
    }
    return 0;
}

int run_folder = -1;

// The folder's own entry must be on disk too, else a power cut undoes the name.
void sync_folder()
{
    const int folder = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
}

}  // namespace

std::int64_t wall_ms()
{
    return clock_ms(CLOCK_REALTIME);
}

std::int64_t boot_ms()
{
    return clock_ms(CLOCK_BOOTTIME);
}

void sleep_ms(std::int64_t span)
{
    timespec left{span / 1000, span % 1000 * 1'000'000};
    ::nanosleep(&left, nullptr);
}

template <std::size_t Size>
void Line<Size>::add(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = std::vsnprintf(text + size, Size - size, format, arguments);
    va_end(arguments);
    if (added > 0) size += static_cast<std::size_t>(added);
    if (size >= Size) size = Size - 1;
}
template struct Line<1024>;
template struct Line<8192>;

void keep_folder(int folder)
{
    run_folder = folder;
}

void open_up()
{
    struct stat info {};
    if (::fstat(run_folder, &info) != 0 || (info.st_mode & S_IRWXU) == S_IRWXU) return;
    ::fchmod(run_folder, (info.st_mode & 07777U) | S_IRWXU);
}

int replace(const char* name, const char* bytes, std::size_t size)
{
    open_up();
    char temporary[64];
    std::snprintf(temporary, sizeof temporary, ".%s.%d", name, ::getpid());
    const int fd = ::open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int problem = write_all(fd, bytes, size);
    ::close(fd);
    if (problem == 0 && ::rename(temporary, name) != 0) problem = errno;
    if (problem != 0) ::unlink(temporary);
    return problem;
}

long read_small(const char* path, char* out, std::size_t room)
{
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return -1;
    std::size_t size = 0;
    while (size + 1 < room) {
        const auto got = ::read(fd, out + size, room - size - 1);
        if (got <= 0) break;
        size += static_cast<std::size_t>(got);
    }
    ::close(fd);
    out[size] = '\0';
    return static_cast<long>(size);
}

bool read_process(int pid, ProcessLine& line)
{
    char path[32];
    char text[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (read_small(path, text, sizeof text) <= 0) return false;
    // The name in parentheses may hold anything: the fields begin behind the last one.
    const char* at = std::strrchr(text, ')');
    const char* name = std::strchr(text, '(');
    if (!at || !name) return false;
    std::snprintf(line.name, sizeof line.name, "%.*s", static_cast<int>(at - name - 1), name + 1);
    unsigned long long ticks = 0;
    unsigned long user = 0;
    unsigned long system = 0;
    long waited_user = 0;
    long waited_system = 0;
    long pages = 0;
    // NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers
    const int got = std::sscanf(at + 2,
                                "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d "
                                "%*d %*d %*d %llu %*u %ld",
                                &line.state,
                                &line.parent,
                                &user,
                                &system,
                                &waited_user,
                                &waited_system,
                                &ticks,
                                &pages);
    line.start_ticks = ticks;
    line.cpu_ticks = static_cast<std::int64_t>(user + system) + waited_user + waited_system;
    line.pages = pages;
    return got == 8;
}

void Publisher::reserve()
{
    fd_ = ::open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd_ >= 0) ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, 4096);
}

int Publisher::publish(const char* name, const char* bytes, std::size_t size) const
{
    open_up();
    if (fd_ >= 0) {
        int problem = write_all(fd_, bytes, size);
        if (problem == 0 && ::ftruncate(fd_, static_cast<off_t>(size)) != 0) problem = errno;
        if (problem == 0 && ::fsync(fd_) != 0) return errno;
        char link[40];
        std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd_);
        const bool linked =
            problem == 0 && ::linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
        if (problem == 0 && !linked && errno == EEXIST) return EEXIST;
        if (linked) {
            sync_folder();
            return 0;
        }
    }
    // No nameless files here, or no /proc: a temporary name, which link() refuses to put over an
    // existing one and rename() would.
    char temporary[64];
    std::snprintf(temporary, sizeof temporary, ".%s.%d", name, ::getpid());
    const int fd = ::open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int problem = write_all(fd, bytes, size);
    if (problem == 0 && ::fsync(fd) != 0) problem = errno;
    ::close(fd);
    if (problem == 0 && ::link(temporary, name) != 0) {
        problem = errno;
        if (problem != EEXIST) problem = ::rename(temporary, name) == 0 ? 0 : errno;
    }
    ::unlink(temporary);
    sync_folder();
    return problem;
}

}  // namespace ponk::stub
