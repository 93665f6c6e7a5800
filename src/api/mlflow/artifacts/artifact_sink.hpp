// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/mlflow/artifacts/artifact_place.hpp"
#include "net/message.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace ponk::api::mlflow {

// Where a body goes and how large it may be.
struct Upload {
    // Asked when the body begins and again when it is complete: what it belongs to may be deleted
    // meanwhile.
    std::function<Result<ArtifactPlace>()> find;
    std::optional<std::uint64_t> announced;  // the body's length, when it was told
    std::optional<std::uint64_t> most = std::nullopt;
    enum class Empty { fine, refused } empty = Empty::fine;
};

// Stores a request's body as an artifact, whole or not at all.
std::unique_ptr<net::BodySink> make_artifact_sink(const Services& services, Upload upload);

}  // namespace ponk::api::mlflow
