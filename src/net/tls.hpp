// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <memory>

namespace ponk::net {

// A certificate with its key, for a listening socket. Files that were renewed on disk are read
// again for new connections; when they cannot be used, the last good ones are. Any thread may use
// it.
class Tls {
public:
    // PEM files: the certificate with the chain behind it, and its key.
    static Result<std::shared_ptr<Tls>> load(os::Path certificate, os::Path key);
    ~Tls();
    Tls(const Tls&) = delete;
    Tls& operator=(const Tls&) = delete;

    struct State;  // Asio's, for net/ alone
    [[nodiscard]] State& state() const { return *state_; }

private:
    explicit Tls(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace ponk::net
