// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/file_answer.hpp"

#include "api/http/byte_range.hpp"
#include "api/http/file_source.hpp"
#include "api/mlflow/artifacts/media_type.hpp"
#include "base/text.hpp"
#include "mlflow/error.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

// Whether one of the tags in a header is `tag`; weak ones count as the same.
bool names(const std::string& header, const std::string& tag)
{
    const auto tags = split(header, ',');
    return std::any_of(tags.begin(), tags.end(), [&tag](std::string_view one) {
        one = trim(one);
        if (one.starts_with("W/")) one.remove_prefix(2);
        return one == "*" || one == tag;
    });
}

// A part is wanted only of the file that the client knows already.
bool wants_part(const net::Request& request, const std::string& tag, const std::string& date)
{
    const auto condition = request.header("If-Range");
    return condition.empty() || condition == tag || condition == date;
}

}  // namespace

Result<net::Response>
file_answer(const net::Request& request, engine::OpenFile file, const std::string& name)
{
    const auto tag = "\"" + file.version + "\"";
    const auto date = file.changed > 0 ? http_date(file.changed) : std::string();
    const auto size = file.size;
    net::Headers headers{{"Content-Disposition", attachment(name)},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Content-Security-Policy", "sandbox; default-src 'none'"},
                         {"Accept-Ranges", "bytes"},
                         {"ETag", tag}};
    if (!date.empty()) headers.emplace_back("Last-Modified", date);
    net::Response response;
    response.type = media_type(name);
    response.headers = std::move(headers);
    const auto known = request.header("If-None-Match");
    if (!known.empty() && names(known, tag)) {
        response.status = 304;
        return response;
    }
    auto range = ByteRange::of(
        wants_part(request, tag, date) ? request.header("Range") : std::string(), size);
    if (range.kind == ByteRange::Kind::outside) {
        auto refused =
            ponk::mlflow::refuse(416,
                                 "INVALID_PARAMETER_VALUE",
                                 fmt::format("The range is outside the file of {} bytes", size));
        refused.headers.emplace_back("Content-Range", range.text(size));
        return refused;
    }
    if (range.kind == ByteRange::Kind::part) {
        response.status = 206;
        response.headers.emplace_back("Content-Range", range.text(size));
    }
    response.stream = TRY(make_file_source(std::move(file), range.from, range.size));
    response.stream_size = range.size;
    return response;
}

}  // namespace ponk::api::mlflow
