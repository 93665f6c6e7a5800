// SPDX-License-Identifier: Apache-2.0
#include "mlflow/spans.hpp"

#include <cstdint>
#include <cstdlib>

// Any bytes as a request of OpenTelemetry's protocol: what is read can be stored, and told again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::mlflow;
    const auto spans = read_otlp({reinterpret_cast<const char*>(data), size});
    if (!spans) return 0;
    if (spans->empty() || spans->size() > most_spans) std::abort();
    for (const auto& span : *spans) {
        if (span.trace.size() != 32 || span.id.size() != 16 || span.began < 0) std::abort();
        const auto content = ponk::parse_json(ponk::to_json(span_content(span)));
        if (!content) std::abort();
        const auto message = span_message(*content);
        if (!message || !message->is_object()) std::abort();
    }
    return 0;
}
