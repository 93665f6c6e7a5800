// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"

extern "C" const unsigned char ponk_openapi[];
extern "C" const unsigned char ponk_openapi_end[];

namespace ponk::api {

// docs/api/openapi.json as it is in the sources: nothing in it is worth hiding.
Result<net::Response> show_openapi(const Services& /*services*/, const Call& /*call*/)
{
    net::Response response;
    response.body.assign(reinterpret_cast<const char*>(ponk_openapi),
                         static_cast<std::size_t>(ponk_openapi_end - ponk_openapi));
    return response;
}

}  // namespace ponk::api
