// SPDX-License-Identifier: Apache-2.0
// What anybody may ask, so that clients and watchdogs can find out who is there.
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "mlflow/version.hpp"

namespace ponk::api {

namespace {

net::Response plain(std::string text)
{
    net::Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

}  // namespace

Result<net::Response> show_health(const Services& /*services*/, const Call& /*call*/)
{
    return plain("OK");
}

Result<net::Response> show_mlflow_version(const Services& /*services*/, const Call& /*call*/)
{
    return plain(ponk::mlflow::spoken_version);
}

// The page's files hold nothing of ours that is worth hiding: who logs in comes through them.
Result<net::Response> show_page(const Services& services, const Call& call)
{
    if (services.page == nullptr)
        return fail(ErrorKind::unavailable, "there is no page in this program");
    return services.page->answer(call.request, join(call.request.path, "/"));
}

const std::vector<Route>& front_routes()
{
    static const std::vector<Route> table{
        {"GET", "/health", Permission::open, show_health},
        {"GET", "/version", Permission::open, show_mlflow_version},
        {"GET", "/", Permission::open, show_page},
        {"GET", "/index.html", Permission::open, show_page},
        {"GET", "/favicon.svg", Permission::open, show_page},
        {"GET", "/assets/{path}", Permission::open, show_page},
    };
    return table;
}

}  // namespace ponk::api
