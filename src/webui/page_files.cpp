// SPDX-License-Identifier: Apache-2.0
#include "webui/page_files.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

extern "C" const unsigned char ponk_page[];
extern "C" const unsigned char ponk_page_end[];

namespace ponk::webui {

namespace {

constexpr std::string_view magic = "PNKPAGE1";

// Scripts and styles are files of ours; nothing inline runs, nothing is asked of other hosts, and
// no other page shows this one in a frame.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; manifest-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Error damaged()
{
    return {ErrorKind::damaged, "the page in this program is damaged"};
}

bool names(std::string_view list, std::string_view etag)
{
    for (const auto& entry : split(std::string(list), ',')) {
        auto name = trim(entry);
        if (name.starts_with("W/")) name.remove_prefix(2);
        if (name == etag || name == "*") return true;
    }
    return false;
}

}  // namespace

std::string_view embedded_page()
{
    const auto* begin = reinterpret_cast<const char*>(ponk_page);
    return {begin, static_cast<std::size_t>(ponk_page_end - ponk_page)};
}

Result<PageFiles> PageFiles::open(std::string_view packed)
{
    PageFiles page;
    if (!packed.starts_with(magic) || packed.size() < magic.size() + 4)
        return tl::unexpected(damaged());
    std::size_t length = 0;
    for (std::size_t i = 4; i-- > 0;)
        length = length << 8U | static_cast<unsigned char>(packed[magic.size() + i]);
    packed.remove_prefix(magic.size() + 4);
    if (length > packed.size()) return tl::unexpected(damaged());
    const auto index = TRY(parse_json(packed.substr(0, length)));
    const auto bytes = packed.substr(length);
    page.missing_ = index.text("missing");
    if (!index["files"].is_array()) return tl::unexpected(damaged());
    for (const auto& entry : index["files"].as_array()) {
        const auto at = static_cast<std::uint64_t>(entry.integer("at"));
        const auto size = static_cast<std::uint64_t>(entry.integer("size"));
        if (at > bytes.size() || size > bytes.size() - at) return tl::unexpected(damaged());
        page.files_.emplace(entry.text("name"),
                            File{entry.text("type"),
                                 "\"" + entry.text("etag") + "\"",
                                 bytes.substr(at, size),
                                 entry.boolean("hashed")});
    }
    return page;
}

Result<net::Response> PageFiles::answer(const net::Request& request, std::string_view path) const
{
    if (!missing_.empty()) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "this ponk was built without the page: " + missing_,
                  "Install a package of ponk, or build it where Node.js 20 or newer is there."));
    }
    const auto found = files_.find(path.empty() ? std::string_view("index.html") : path);
    if (found == files_.end()) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "the page has no '" + printable(path) + "'",
                                    "Load the page again: it may be of another version."));
    }
    const auto& file = found->second;
    net::Response response;
    response.type = file.type;
    response.headers = {
        {"ETag", file.etag},
        {"Cache-Control", file.hashed ? "public, max-age=31536000, immutable" : "no-cache"},
        {"Content-Security-Policy", policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"}};
    if (names(request.header("If-None-Match"), file.etag)) {
        response.status = 304;
        return response;
    }
    // Every browser reads it, and so does who did not say what it reads.
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = std::string(file.bytes);
    return response;
}

}  // namespace ponk::webui
