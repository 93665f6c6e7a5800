// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Files of the run directory, which is the current folder.
namespace ponk::stub {

std::int64_t wall_ms();
std::int64_t boot_ms();
void sleep_ms(std::int64_t span);

// Text made in place, without a heap. What does not fit is cut.
template <std::size_t Size>
struct Line {
    char text[Size];
    std::size_t size = 0;
    [[gnu::format(printf, 2, 3)]] void add(const char* format, ...);
};

// The run directory belongs to the script too, which may have taken our rights to it away: with its
// descriptor we can give them back. `keep_folder` before anything else here, `open_up` before it is
// read or written.
void keep_folder(int folder);
void open_up();

// Replaces `name` by rename. Returns errno or 0.
int replace(const char* name, const char* bytes, std::size_t size);
// Reads a small file, never waiting for anybody, and adds a NUL. Returns the length, or -1.
long read_small(const char* path, char* out, std::size_t room);
// What the kernel says of a process; false when it is gone.
struct ProcessLine {
    char name[16];
    char state;
    int parent;
    std::uint64_t start_ticks;  // since boot
    std::int64_t cpu_ticks;     // used, also by children it waited for
    std::int64_t pages;         // resident
};
bool read_process(int pid, ProcessLine& line);

// A nameless file with its space already reserved: the exit record gets through on a full disk.
class Publisher {
public:
    void reserve();
    // Makes `name` appear with all of its bytes, durable. Returns errno or 0; EEXIST when there is
    // something of this name.
    int publish(const char* name, const char* bytes, std::size_t size) const;

private:
    int fd_ = -1;
};

}  // namespace ponk::stub
