// SPDX-License-Identifier: Apache-2.0
#include "api/http/shown.hpp"

#include "base/text.hpp"
#include "net/target.hpp"

#include <array>

namespace ponk::api {

namespace {

// What a frame shows as it is; all else is bytes.
constexpr std::array<std::pair<std::string_view, const char*>, 16> types{{
    {".html", "text/html; charset=utf-8"},
    {".htm", "text/html; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".avif", "image/avif"},
    {".bmp", "image/bmp"},
    {".mp4", "video/mp4"},
    {".webm", "video/webm"},
    {".wav", "audio/wav"},
    {".mp3", "audio/mpeg"},
    {".txt", "text/plain; charset=utf-8"},
    {".csv", "text/plain; charset=utf-8"},
}};

std::string name_of(const net::Request& request)
{
    auto path = request.parameter("path").value_or("");
    if (path.empty() && !request.path.empty()) path = request.path.back();
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

void mark_shown(const net::Request& request, SignedAddresses::Show show, net::Response& answer)
{
    const auto name = name_of(request);
    const bool worked = answer.status < 300;
    if (show == SignedAddresses::Show::frame) {
        answer.headers.emplace_back("Content-Security-Policy",
                                    "sandbox; default-src 'none'; img-src 'self' data:; media-src "
                                    "'self' data:; style-src 'unsafe-inline'; font-src data:");
        for (const auto& [end, type] : types) {
            if (worked && lower(name).ends_with(end)) answer.type = type;
        }
    } else if (worked) {
        answer.headers.emplace_back("Content-Disposition",
                                    "attachment; filename*=UTF-8''" + net::percent_encode(name));
    }
    answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
    answer.headers.emplace_back("Referrer-Policy", "no-referrer");
    answer.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace ponk::api
