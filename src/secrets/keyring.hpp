// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// The desktop's Secret Service, through the program secret-tool. Values travel by pipes, never as
// arguments. No state besides `realm`, which keeps apart what belongs to different homes.
class Keyring {
public:
    explicit Keyring(std::string realm) : realm_(std::move(realm)) {}

    // The program is installed and a service answers within a second.
    static bool is_there();

    Result<> store(const std::string& name, const std::string& id, std::string_view value) const;
    // nullopt when it has no such item; `unavailable` when it cannot be asked.
    Result<std::optional<std::string>> find(const std::string& name, const std::string& id) const;
    // An item that is gone is a success.
    Result<> remove(const std::string& name, const std::string& id) const;

private:
    [[nodiscard]] std::vector<std::string> item(const std::string& name,
                                                const std::string& id) const;
    std::string realm_;
};

}  // namespace ponk::secrets
