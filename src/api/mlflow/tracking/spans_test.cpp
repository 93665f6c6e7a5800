// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

#include <zlib.h>

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

const std::string traces = "/api/3.0/mlflow/traces";
const std::string trace_id = "tr-11111111111111111111111111111111";

// One field of a protocol buffer message: a text or message.
std::string field(int number, const std::string& bytes)
{
    std::string head(1, static_cast<char>(number * 8 + 2));
    auto size = bytes.size();
    for (; size >= 0x80; size >>= 7U)
        head += static_cast<char>((size & 0x7fU) | 0x80U);
    return head + static_cast<char>(size) + bytes;
}

std::string time_field(int number, std::uint64_t value)
{
    std::string bytes(1, static_cast<char>(number * 8 + 1));
    for (unsigned i = 0; i < 8; ++i)
        bytes += static_cast<char>((value >> (8 * i)) & 0xffU);
    return bytes;
}

std::string span(char id, const std::string& more)
{
    return field(
        1,
        field(2,
              field(2, field(1, std::string(16, '\x11')) + field(2, std::string(8, id)) + more)));
}

const std::string root =
    span('\x01',
         field(5, "root") + time_field(7, 2'000'000'000) + time_field(8, 5'000'000'000) +
             field(9, field(1, "mlflow.spanInputs") + field(2, field(1, "in"))));
const std::string part = span('\x02',
                              field(4, std::string(8, '\x01')) + field(5, "part") +
                                  time_field(7, 1'500'000'000) + time_field(8, 3'000'000'000));

// A gzip file that holds these bytes as they are.
std::string gzip_of(const std::string& bytes)
{
    std::string file(compressBound(static_cast<uLong>(bytes.size())) + 32, '\0');
    z_stream stream{};
    auto copy = bytes;
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(copy.data());
    stream.avail_in = static_cast<uInt>(copy.size());
    stream.next_out = reinterpret_cast<Bytef*>(file.data());
    stream.avail_out = static_cast<uInt>(file.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    file.resize(stream.total_out);
    deflateEnd(&stream);
    return file;
}

class SpanCallsTest : public MlflowTest {
protected:
    // With headers in place of all usual ones.
    net::Response send_as(net::Headers headers, const std::string& body)
    {
        net::Request request;
        request.method = "POST";
        request.path = {"v1", "traces"};
        request.headers = std::move(headers);
        request.headers.emplace_back("x-mlflow-experiment-id", "0");
        request.body = body;
        return answer(request);
    }
    net::Response send_spans(const std::string& body, net::Headers headers = {})
    {
        net::Request request;
        request.method = "POST";
        request.path = {"v1", "traces"};
        request.headers = {{"Content-Type", "application/x-protobuf"}};
        if (headers.empty()) headers = {{"x-mlflow-experiment-id", "0"}};
        request.headers.insert(request.headers.end(), headers.begin(), headers.end());
        request.body = body;
        return answer(request);
    }
    Json whole() { return ask(get(traces + "/get", {{"trace_id", trace_id}}))["trace"]; }
};

TEST_F(SpanCallsTest, SpansMakeTheirTraceAndComeBackWithIt)
{
    EXPECT_EQ(send_spans(part).status, 200);
    EXPECT_EQ(whole()["trace_info"].text("state"), "IN_PROGRESS");
    EXPECT_EQ(send_spans(root).status, 200);
    const auto trace = whole();
    const auto& info = trace["trace_info"];
    EXPECT_EQ(info.text("state"), "OK");
    EXPECT_EQ(info.text("request_time"), "1970-01-01T00:00:01.500Z");
    EXPECT_EQ(info.text("execution_duration"), "3.500s");
    EXPECT_EQ(info.text("request_preview"), "\"in\"");
    EXPECT_EQ(info["tags"].text("mlflow.trace.spansLocation"), "TRACKING_STORE");
    const auto& spans = trace["spans"].as_array();
    ASSERT_EQ(spans.size(), 2U);
    EXPECT_EQ(spans[0].text("name"), "root");
    EXPECT_EQ(spans[1].text("parent_span_id"), spans[0].text("span_id"));
    EXPECT_EQ(send_spans(root).status, 200) << "sent again it is the same";
    EXPECT_EQ(whole()["spans"].as_array().size(), 2U);
    const auto batch = ask(get(traces + "/batchGet", {{"trace_ids", trace_id}}));
    EXPECT_EQ(to_json(batch["traces"].as_array().at(0)), to_json(whole()));
    const auto file = get("/ajax-api/3.0/mlflow/get-trace-artifact", {{"request_id", trace_id}});
    EXPECT_EQ(ask(file)["spans"].as_array().at(0)["attributes"].text("mlflow.spanInputs"),
              "\"in\"");
}

TEST_F(SpanCallsTest, ATraceWaitsForTheSpansThatItsClientCounted)
{
    send_spans(root);
    ask(post(traces,
             R"({"trace": {"trace_info": {"trace_id": ")" + trace_id + R"(", "trace_location": {
            "mlflow_experiment": {"experiment_id": "0"}}, "request_time": "2026-03-01T12:30:05Z",
            "trace_metadata": {"mlflow.trace.sizeStats": "{\"num_spans\": 2}"}}}})"));
    EXPECT_THAT(refusal(get(traces + "/get", {{"trace_id", trace_id}})),
                HasSubstr("not fully exported yet"));
    EXPECT_EQ(get(traces + "/batchGet", {{"trace_ids", trace_id}}).body, "{}\n");
    ask(get(traces + "/get", {{"trace_id", trace_id}, {"allow_partial", "true"}}));
    send_spans(part);
    EXPECT_EQ(whole()["spans"].as_array().size(), 2U);
}

TEST_F(SpanCallsTest, TagsOfOneRequestAreSoManyAndNoMore)
{
    const auto spans = [](int count, int attributes) {
        std::string resource;
        for (int i = 0; i < attributes; ++i)
            resource += field(1, field(1, fmt::format("k{}", i)) + field(2, field(1, "v")));
        std::string list;
        for (int i = 0; i < count; ++i)
            list += field(2, field(1, fmt::format("{:016}", i)) + field(2, std::string(8, '\x01')));
        return field(1, field(1, resource) + field(2, list));
    };
    EXPECT_EQ(send_spans(spans(3, 200)).status, 200);
    const auto first = "tr-" + to_hex(fmt::format("{:016}", 0));
    const auto tags = ask(get(traces + "/" + first, {}))["trace"]["trace_info"]["tags"];
    EXPECT_EQ(tags.text("k199"), "v");
    EXPECT_THAT(refusal(send_spans(spans(501, 200))), HasSubstr("at most 100000 tags"));
    std::string own;
    for (int i = 0; i < 100'001; ++i)
        own += field(9, field(1, fmt::format("mlflow.traceTag.{}", i)) + field(2, field(1, "v")));
    EXPECT_THAT(refusal(send_spans(span('\x01', own))), HasSubstr("at most 100000 tags"));
}

TEST_F(SpanCallsTest, WithARunThatIsNotThereNothingIsStored)
{
    const net::Headers zero{{"x-mlflow-experiment-id", "0"}};
    auto headers = zero;
    headers.emplace_back("x-mlflow-run-id", std::string(32, 'a'));
    EXPECT_EQ(send_spans(root, headers).status, 404);
    EXPECT_EQ(get(traces + "/get", {{"trace_id", trace_id}}).status, 404);
    headers.back().second = new_run();
    EXPECT_EQ(send_spans(root, headers).status, 200);
    const auto found = ask(post(
        traces + "/search",
        R"({"locations": [{"mlflow_experiment": {"experiment_id": "0"}}], "filter": "run_id = ')" +
            headers.back().second + R"('"})"));
    EXPECT_EQ(found["traces"].as_array().size(), 1U);
}

TEST_F(SpanCallsTest, WrongOnesAreRefused)
{
    EXPECT_THAT(refusal(send_spans("x")), HasSubstr("Invalid OpenTelemetry format"));
    EXPECT_THAT(refusal(send_spans(root, {{"x", "y"}})), HasSubstr("x-mlflow-experiment-id"));
    EXPECT_EQ(send_spans(root, {{"x-mlflow-experiment-id", "99"}}).status, 404);
    EXPECT_THAT(
        refusal(send_spans(root, {{"x-mlflow-experiment-id", "0"}, {"Content-Encoding", "br"}})),
        HasSubstr("Unsupported Content-Encoding: br"));
    EXPECT_THAT(
        refusal(send_spans(root, {{"x-mlflow-experiment-id", "0"}, {"Content-Encoding", "gzip"}})),
        HasSubstr("cannot be unpacked"));
    EXPECT_THAT(refusal(post("/v1/traces", "{}")), HasSubstr("x-mlflow-experiment-id"));
    EXPECT_EQ(refusal(get(traces + "/get", {{"trace_id", "none"}})),
              "404 RESOURCE_DOES_NOT_EXIST: Trace with ID none is not found.");
    EXPECT_EQ(get("/ajax-api/2.0/mlflow/get-trace-artifact", {}).status, 400);
    EXPECT_EQ(get("/ajax-api/2.0/mlflow/get-trace-artifact", {{"request_id", "no"}}).status, 404);
    EXPECT_EQ(
        get("/ajax-api/2.0/mlflow/get-trace-artifact", {{"request_id", "a"}, {"path", "../x"}})
            .status,
        404);
}

TEST_F(SpanCallsTest, SpansComeAsJsonAndPackedToo)
{
    const std::string json =
        R"({"resourceSpans": [{"scopeSpans": [{"spans": [
            {"traceId": "11111111111111111111111111111111", "spanId": "0101010101010101",
             "name": "root", "startTimeUnixNano": "2000000000", "endTimeUnixNano": "5000000000",
             "attributes": [{"key": "mlflow.llm.model", "value": {"stringValue": "m"}},
                            {"key": "mlflow.llm.cost", "value":
                                {"stringValue": "{\"total_cost\": 0.5}"}}]}]}]}]})";
    const net::Headers as_json{{"Content-Type", "application/json; charset=utf-8"}};
    const auto answered = send_as(as_json, json);
    EXPECT_EQ(answered.status, 200) << answered.body;
    EXPECT_EQ(answered.type, "application/json");
    EXPECT_EQ(whole()["spans"].as_array().at(0).text("name"), "root");
    EXPECT_EQ(post(traces + "/metrics",
                   R"({"experiment_ids": ["0"], "view_type": "SPANS", "metric_name": "total_cost",
                       "aggregations": [{"aggregation_type": "SUM"}],
                       "dimensions": ["span_model_name"]})")
                  .body,
              R"({"data_points":[{"metric_name":"total_cost","dimensions":{"span_model_name":"m"},)"
              R"("values":{"SUM":0.5}}]})"
              "\n");
    EXPECT_EQ(send_as({{"Content-Type", "application/x-protobuf"}, {"Content-Encoding", "gzip"}},
                      gzip_of(part))
                  .status,
              200);
    EXPECT_EQ(whole()["spans"].as_array().size(), 2U);
    auto packed_json = as_json;
    packed_json.emplace_back("Content-Encoding", "GZIP");
    EXPECT_EQ(send_as(packed_json, gzip_of(json)).status, 200);
    EXPECT_EQ(send_as(as_json, "{").status, 400);
    // As small as it came, it holds more than a body may have.
    const auto bomb = gzip_of(std::string((std::size_t{16} << 20) + 1, ' '));
    EXPECT_LT(bomb.size(), 100'000U);
    EXPECT_THAT(refusal(send_as(packed_json, bomb)), HasSubstr("more than 16.0 MiB"));
}

}  // namespace
}  // namespace ponk::api::mlflow
