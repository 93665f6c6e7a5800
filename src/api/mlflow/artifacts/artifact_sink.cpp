// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/artifact_sink.hpp"

#include "base/text.hpp"
#include "mlflow/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

// Clients repeat a 503 for minutes, and a disk is not emptied meanwhile: they hear it at once.
constexpr int no_room = 507;

net::Response refuse_to_store(const Error& error)
{
    if (error.kind() != ErrorKind::unavailable) return ponk::mlflow::refuse(error);
    const auto text =
        error.hint().empty() ? error.message() : error.message() + ". " + error.hint();
    return ponk::mlflow::refuse(no_room, "RESOURCE_EXHAUSTED", text);
}

class ArtifactSink final : public net::BodySink {
public:
    ArtifactSink(const Services& services, Upload upload)
        : services_(services), upload_(std::move(upload))
    {
    }

    std::optional<net::Response> open() override { return begin(0); }

    std::optional<net::Response> write(std::string_view bytes) override
    {
        if (auto refusal = begin(bytes.size())) return refusal;
        if (const auto written = file_->write(bytes); !written)
            return refuse_to_store(written.error());
        return std::nullopt;
    }

    net::Response finish() override
    {
        if (received_ == 0 && upload_.empty == Upload::Empty::refused)
            return ponk::mlflow::refuse(
                Error(ErrorKind::invalid_argument, "Request must specify data in its body"));
        if (auto refusal = begin(0)) return std::move(*refusal);
        const auto place = writable();
        if (!place) return ponk::mlflow::refuse(place.error());
        if (const auto published = file_->publish(place->full()); !published)
            return refuse_to_store(published.error());
        net::Response response;
        response.type = "text/plain; charset=utf-8";
        return response;
    }

    void abort() noexcept override { file_.reset(); }

private:
    Result<ArtifactPlace> writable()
    {
        auto place = TRY(upload_.find());
        TRY(check_writable(place));
        if (place.inside.is_root())
            return fail(ErrorKind::invalid_argument, "Invalid path: it is not a file");
        TRY(check_free(services_, place));
        return place;
    }

    std::optional<net::Response> begin(std::size_t more)
    {
        received_ += more;
        if (upload_.most && std::max(received_, upload_.announced.value_or(0)) > *upload_.most) {
            return ponk::mlflow::refuse(
                Error(ErrorKind::invalid_argument,
                      fmt::format("Artifact size is too large. Max size is {}",
                                  byte_size_text(*upload_.most))));
        }
        if (file_) return std::nullopt;
        if (const auto place = writable(); !place) return ponk::mlflow::refuse(place.error());
        auto file = engine::client_files(services_.context()).receive(upload_.announced);
        if (!file) return refuse_to_store(file.error());
        file_.emplace(std::move(*file));
        return std::nullopt;
    }

    const Services& services_;
    Upload upload_;
    std::uint64_t received_ = 0;
    std::optional<store::ArtifactUpload> file_;
};

}  // namespace

std::unique_ptr<net::BodySink> make_artifact_sink(const Services& services, Upload upload)
{
    return std::make_unique<ArtifactSink>(services, std::move(upload));
}

}  // namespace ponk::api::mlflow
