// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/link/host_pool.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::executor::remote {

// Where the program for a processor ("x86_64", "aarch64") is found; fails with advice when this
// ponk has none.
using FindProgram = std::function<Result<std::string>(const std::string& processor)>;

struct SshOptions {
    Path home;                             // $PONK_HOME
    std::vector<std::string> environment;  // "K=V": HOME and PATH of the user
    std::vector<std::string> processors;   // those that there is a program for
    FindProgram program;
};

// Connects through the user's SSH client. The program is copied to the machine when its very bytes
// are not there yet, to ~/.ponk/bin or below `scratch`.
Connect connect_by_ssh(SshOptions options);

}  // namespace ponk::executor::remote
