// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::api::mlflow {

// The media type of a file by its name, as MLflow's server tells it: what people read is plain
// text, so that nothing of it is executed.
std::string media_type(std::string_view name);

// For Content-Disposition: a name in any script, as RFC 6266 wants it.
std::string attachment(std::string_view name);

// For Last-Modified: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::int64_t wall_ms);

}  // namespace ponk::api::mlflow
