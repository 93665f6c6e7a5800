// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// The desktop's Secret Service, through the program secret-tool. Values travel by pipes, never as
// arguments. Made again for each piece of work: all calls together take no longer than `patience`,
// in which the service may ask its user for a password. `realm` keeps apart what belongs to
// different homes.
class Keyring {
public:
    static constexpr std::chrono::seconds patience{15};

    explicit Keyring(std::string realm) : realm_(std::move(realm)), deadline_(after(patience)) {}

    // The program is installed and a service answers within a second.
    static bool is_there();

    Result<> store(const std::string& name, const std::string& id, std::string_view value) const;
    // nullopt when it has no such item; `unavailable` when it cannot be asked or is locked.
    Result<std::optional<std::string>> find(const std::string& name, const std::string& id) const;
    // An item that is gone is a success.
    Result<> remove(const std::string& name, const std::string& id) const;

private:
    // The service knows the item, be it locked or not.
    Result<bool> has(const std::string& name, const std::string& id) const;
    [[nodiscard]] std::vector<std::string> item(const std::string& name,
                                                const std::string& id) const;
    std::string realm_;
    Deadline deadline_;
};

}  // namespace ponk::secrets
