// SPDX-License-Identifier: Apache-2.0
#include "stub/relay.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

constexpr int most_waiting = 1024;
constexpr char address_word[] = "MLFLOW_TRACKING_URI=";
char address[64];

// The number of a port, or 0.
int listen_on_loopback(int fd)
{
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* any = reinterpret_cast<sockaddr*>(&name);
    if (::bind(fd, any, size) != 0 || ::listen(fd, most_waiting) != 0 ||
        ::getsockname(fd, any, &size) != 0)
        return 0;
    return ntohs(name.sin_port);
}

bool begins_with(const char* word, const char* beginning)
{
    return std::strncmp(word, beginning, std::strlen(beginning)) == 0;
}

void remove_words(Job& job, const char* beginning)
{
    char** to = job.environment;
    for (char** from = job.environment; *from; ++from) {
        if (!begins_with(*from, beginning)) *to++ = *from;
    }
    *to = nullptr;
}

void add_word(Job& job, char* word)
{
    char** end = job.environment;
    while (*end)
        ++end;
    *end++ = word;
    *end = nullptr;
}

}  // namespace

int open_relay(Job& job)
{
    if (!job.relay) return -1;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int port = fd < 0 ? 0 : listen_on_loopback(fd);
    remove_words(job, address_word);
    if (port != 0) {
        std::snprintf(address, sizeof address, "%shttp://127.0.0.1:%d", address_word, port);
        add_word(job, address);
        return fd;
    }
    // A client that knows the run but not where to send it to would fail.
    for (const char* name : {"MLFLOW_RUN_ID=", "MLFLOW_EXPERIMENT_ID=", "MLFLOW_TRACKING_TOKEN="})
        remove_words(job, name);
    if (fd >= 0) ::close(fd);
    return -1;
}

void become_relay(const char* program, int listener)
{
    constexpr int given = 3;
    // It hears of the run's end by us, and of nobody else.
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        ::signal(number, SIG_IGN);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (listener == given) {
        ::fcntl(given, F_SETFD, 0);
    } else {
        ::dup2(listener, given);
    }
    // The lock of the run above all: it tells that a process of the run lives.
    if (::syscall(SYS_close_range, 4U, ~0U, 0U) != 0) {
        for (int fd = given + 1; fd < 4096; ++fd)
            ::close(fd);
    }
    char name[] = "ponk-relay";
    char directory[] = ".";
    char descriptor[] = "3";
    char* argv[] = {name, directory, descriptor, nullptr};
    char* environment[] = {nullptr};
    ::execve(program, argv, environment);
    ::_exit(127);
}

}  // namespace ponk::stub
