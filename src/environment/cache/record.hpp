// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "environment/spec/spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::environment {

// What is known of an environment that is ready: `environment.json`, whose being there is what
// makes it ready. docs/design/environments.md describes it.
struct Record {
    std::string id;   // the key; for an image with a part of the engine's id after it
    std::string key;  // 32 hex digits
    Form form = Form::prefix;
    std::string target;   // whose run asked for it first
    std::string builder;  // "uv", "conda in the image"…
    std::string choice;   // why that builder
    std::string reason;   // why it was built
    std::string interpreter;
    std::string prefix;  // the environment's folder, where its interpreter is
    std::string image;   // "sha256:…"
    std::string engine;  // the engine's own id
    std::string socket;  // where it was reached
    std::string base_image;
    Json spec;                // canonical
    std::string lock_digest;  // of lock.json
    std::int64_t packages = 0;
    std::int64_t size = 0;   // bytes on disk; of an image without its base
    std::int64_t built = 0;  // wall-clock milliseconds
};

Json to_json(const Record& record);
// `damaged` for anything but a record of a format that is known.
Result<Record> parse_record(std::string_view text);

}  // namespace ponk::environment
