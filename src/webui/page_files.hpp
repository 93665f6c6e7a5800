// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"

#include <map>
#include <string>
#include <string_view>

namespace ponk::webui {

// The page's files, compressed as tools/build_page.py packs them: "PNKPAGE1", the length of an
// index (4 bytes, little-endian), the index as JSON, the files one behind another.
//     {"missing": "", "files": [{"name", "type", "etag", "at", "size", "hashed"}…]}
// Any thread may call.
class PageFiles final : public api::Page {
public:
    // `packed` outlives this.
    static Result<PageFiles> open(std::string_view packed);

    [[nodiscard]] Result<net::Response> answer(const net::Request& request,
                                               std::string_view path) const override;
    [[nodiscard]] std::string missing() const override { return missing_; }

private:
    struct File {
        std::string type;
        std::string etag;
        std::string_view bytes;  // gzip
        bool hashed = false;     // its name changes with its content
    };

    std::string missing_;
    std::map<std::string, File, std::less<>> files_;
};

// What this program carries.
std::string_view embedded_page();

}  // namespace ponk::webui
