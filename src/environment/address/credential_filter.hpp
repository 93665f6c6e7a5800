// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ponk::environment {

// "***" in place of what lets one in to the addresses of a text, however short it is: here its
// place tells what it is. Whole "user:password" before "@", tokens of conda servers, signatures and
// keys in queries, logins of proxies without a scheme. Other words of a query stay.
std::string without_credentials(std::string_view text);

// The same for a text that comes in pieces, wherever it was cut. Holds back the last line, or of a
// line of more than 64 KiB the last word. One thread at a time.
class CredentialFilter {
public:
    [[nodiscard]] std::string feed(std::string_view bytes);
    [[nodiscard]] std::string finish();

private:
    std::string held_;
};

}  // namespace ponk::environment
