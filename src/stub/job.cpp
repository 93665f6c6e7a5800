// SPDX-License-Identifier: Apache-2.0
#include "stub/job.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

struct Text {
    char* bytes = nullptr;
    std::size_t size = 0;
};

// The whole of `fd`, with a NUL behind it.
bool read_all(int fd, Text& text)
{
    std::size_t room = 65536;
    text.bytes = static_cast<char*>(std::malloc(room));
    while (text.bytes) {
        const auto got = ::read(fd, text.bytes + text.size, room - text.size - 1);
        if (got <= 0) {
            text.bytes[text.size] = '\0';
            return got == 0;
        }
        text.size += static_cast<std::size_t>(got);
        if (room - text.size < 4096)
            text.bytes = static_cast<char*>(std::realloc(text.bytes, room *= 2));
    }
    return false;
}

struct Entry {
    const char* key;
    char* value;
    std::size_t size;
};

// Takes "KEY LENGTH\nBYTES\n" from the front; the bytes get a NUL behind them, in place.
bool next_entry(char*& at, const char* end, Entry& entry)
{
    char* space = static_cast<char*>(std::memchr(at, ' ', static_cast<std::size_t>(end - at)));
    if (!space) return false;
    *space = '\0';
    char* digits_end = nullptr;
    const auto size = std::strtoull(space + 1, &digits_end, 10);
    if (digits_end == space + 1 || *digits_end != '\n') return false;
    char* value = digits_end + 1;
    if (size >= static_cast<std::size_t>(end - value) || value[size] != '\n') return false;
    value[size] = '\0';
    entry = {at, value, size};
    at = value + size + 1;
    return true;
}

}  // namespace

const char* read_spec(Job& job)
{
    const int fd = ::open("spec", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "there is no file 'spec'";
    Text text;
    const bool whole = read_all(fd, text);
    ::close(fd);
    static constexpr char first_line[] = "ponk-spec 1\n";
    if (!whole || std::strncmp(text.bytes, first_line, sizeof first_line - 1) != 0)
        return "file 'spec' cannot be read or has another version";
    char* at = text.bytes + sizeof first_line - 1;
    // No entry is shorter than "arg 0\n\n".
    job.argv = static_cast<char**>(std::calloc(text.size / 7 + 2, sizeof(char*)));
    job.holds = static_cast<char**>(std::calloc(text.size / 7 + 2, sizeof(char*)));
    if (!job.argv || !job.holds) return "out of memory";
    std::size_t count = 0;
    std::size_t holds = 0;
    Entry entry{};
    while (next_entry(at, text.bytes + text.size, entry)) {
        const auto is = [&entry](const char* key) { return std::strcmp(entry.key, key) == 0; };
        if (is("run")) job.run = entry.value;
        if (is("token")) job.token = entry.value;
        if (is("directory")) job.directory = entry.value;
        if (is("program")) (job.program ? job.other_program : job.program) = entry.value;
        if (is("umask")) job.umask = static_cast<mode_t>(std::strtoul(entry.value, nullptr, 8));
        if (is("time-limit-ms")) job.time_limit_ms = std::strtoll(entry.value, nullptr, 10);
        if (is("grace-ms")) job.grace_ms = std::strtoll(entry.value, nullptr, 10);
        if (is("relay")) job.relay = entry.value;
        if (is("input")) job.input = entry.value;
        if (is("term-reaches-all")) job.term_reaches_all = entry.value[0] == '1';
        if (is("hold")) job.holds[holds++] = entry.value;
        if (is("arg")) job.argv[count++] = entry.value;
        if (is("end")) return job.program && count > 0 ? nullptr : "file 'spec' has no program";
    }
    return "file 'spec' is cut off";
}

// A name counts once: programs do not agree on which of two they see. The last one does.
static void add_variable(char** environment, std::size_t& count, char* word)
{
    const auto* equals = std::strchr(word, '=');
    const std::size_t length = equals ? static_cast<std::size_t>(equals - word) + 1 : 0;
    for (std::size_t i = 0; length > 0 && i < count; ++i) {
        if (std::strncmp(environment[i], word, length) == 0) {
            environment[i] = word;
            return;
        }
    }
    environment[count++] = word;
}

const char* read_environment(int fd, Job& job)
{
    Text text;
    if (!read_all(fd, text)) return "the environment cannot be read";
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size; ++i)
        count += text.bytes[i] == '\0' ? 1 : 0;
    // One more may come: the address of the run's relay.
    job.environment = static_cast<char**>(std::calloc(count + 2, sizeof(char*)));
    if (!job.environment) return "out of memory";
    char* at = text.bytes;
    std::size_t variables = 0;
    for (std::size_t i = 0; i < count; ++i, at += std::strlen(at) + 1) {
        if (i == 0 && !std::strchr(at, '=')) {
            job.key = at;
        } else {
            add_variable(job.environment, variables, at);
        }
    }
    return nullptr;
}

}  // namespace ponk::stub
