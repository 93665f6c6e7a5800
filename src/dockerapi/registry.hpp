// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::dockerapi {

// Who we are to a registry. An identity token replaces the password where a helper gives
// one.
struct Login {
    std::string username;
    std::string password;
    std::string identity_token;
    std::string server;
};

// The registry that an image's name begins with: "docker.io" when it names none.
std::string registry_of(std::string_view image);

// The login that the user's Docker client has for that registry: from its credential helper or
// from its settings file. nullopt when there is none.
Result<std::optional<Login>> find_login(const std::string& registry,
                                        const std::vector<std::string>& environment,
                                        std::stop_token stop);

// The X-Registry-Auth header.
std::string header_of(const Login& login);

}  // namespace ponk::dockerapi
