// SPDX-License-Identifier: Apache-2.0
#include "os/socket.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace ponk::os {

namespace {

struct Address {
    sockaddr_un value{};
    Fd folder;  // keeps /proc/self/fd/N valid
};

Result<Address> address_of(const Path& path)
{
    Address address;
    address.value.sun_family = AF_UNIX;
    auto text = path.native();
    if (text.size() >= sizeof address.value.sun_path) {
        address.folder = TRY(open_file(path.parent_path(), O_PATH | O_DIRECTORY));
        text = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), path.filename().native());
    }
    if (text.size() >= sizeof address.value.sun_path)
        return fail(ErrorKind::invalid_argument, "socket name {} is too long", in_quotes(path));
    std::memcpy(address.value.sun_path, text.c_str(), text.size() + 1);
    return address;
}

Result<ucred> peer_of(int socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return fail_errno(errno, "ask for the socket's peer");
    return peer;
}

}  // namespace

Result<Fd> listen_unix(const Path& path)
{
    const auto address = TRY(address_of(path));
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "create a socket");
    ::fchmod(socket.get(), 0600);  // the name gets these bits: nobody can connect in between
    const auto* generic = reinterpret_cast<const sockaddr*>(&address.value);
    if (::bind(socket.get(), generic, sizeof address.value) != 0)
        return fail_errno(errno, "bind socket {}", in_quotes(path));
    if (::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), 1024) != 0)
        return fail_errno(errno, "listen on socket {}", in_quotes(path));
    return socket;
}

Result<Fd> connect_unix(const Path& path)
{
    const auto address = TRY(address_of(path));
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, "create a socket");
    // A listener that hangs with a full queue would hold connect() up for ever.
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address.value);
    if (::connect(socket.get(), generic, sizeof address.value) != 0)
        return fail_errno(
            errno == EAGAIN ? ETIMEDOUT : errno, "connect to socket {}", in_quotes(path));
    return socket;
}

Result<uid_t> peer_user(int socket)
{
    return TRY(peer_of(socket)).uid;
}

Result<pid_t> listening_process(const Path& path)
{
    const auto socket = TRY(connect_unix(path));
    return TRY(peer_of(socket.get())).pid;
}

}  // namespace ponk::os
