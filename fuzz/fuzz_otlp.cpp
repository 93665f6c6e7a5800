// SPDX-License-Identifier: Apache-2.0
#include "mlflow/spans.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace ponk::mlflow;

void check(const ponk::Result<std::vector<OtlpSpan>>& spans)
{
    if (!spans) return;
    if (spans->empty() || spans->size() > most_spans) std::abort();
    for (const auto& span : *spans) {
        if (span.trace.size() != 32 || span.id.size() != 16 || span.began < 0) std::abort();
        const auto content = ponk::parse_json(ponk::to_json(span_content(span)));
        if (!content) std::abort();
        const auto message = span_message(*content);
        if (!message || !message->is_object()) std::abort();
    }
}

}  // namespace

// Any bytes as a request of OpenTelemetry's protocol, in its two forms: what is read can be stored,
// and told again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check(read_otlp(bytes));
    check(read_otlp_json(bytes));
    return 0;
}
