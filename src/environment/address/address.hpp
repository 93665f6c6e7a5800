// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Addresses of packages and indexes may carry what lets one in: "user:token@", a signed query,
// "/t/TOKEN/" of conda servers. Nothing of that is shown, stored or hashed.
namespace ponk::environment {

// The text with "***" in place of such parts, in every address it holds. A query is hidden whole.
std::string without_secrets(std::string_view text);

// For keys: as above, but what a query selects (everything that is not a credential) still tells
// two addresses apart, as a short digest. So a renewed signature is the same address.
std::string address_identity(std::string_view text);

// The hidden parts themselves, to be looked for in what tools print. None shorter than 4 bytes.
std::vector<std::string> secrets_in(std::string_view text);

// What lets one in, and no more: passwords and tokens before "@", tokens of conda servers,
// signatures and keys in queries; as written and with their "%40" read. For texts in which an
// address is not about packages and a query may be anything. None shorter than 6 bytes.
std::vector<std::string> credentials_in(std::string_view text);

// Hides addresses' secrets and the given values in lines that tools print.
class Redactor {
public:
    void add_secrets_of(std::string_view text);
    [[nodiscard]] std::string clean(std::string_view line) const;

private:
    std::vector<std::string> values_;
};

}  // namespace ponk::environment
