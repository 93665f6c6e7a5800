// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

const std::string traces = "/api/3.0/mlflow/traces";

class TraceCallsTest : public MlflowTest {
protected:
    net::Response start(const std::string& id,
                        const std::string& time = "2026-03-01T12:30:05.123Z",
                        const std::string& experiment = "0")
    {
        return post(traces,
                    fmt::format(R"({{"trace": {{"trace_info": {{
                        "trace_id": {}, "trace_location": {{"type": "MLFLOW_EXPERIMENT",
                        "mlflow_experiment": {{"experiment_id": "{}"}}}},
                        "request_time": "{}", "execution_duration": "0.091s", "state": "OK",
                        "trace_metadata": {{"mlflow.sourceRun": "r"}},
                        "tags": {{"mlflow.traceName": "f"}},
                        "request_preview": "{{}}", "response_preview": "3"}}}}}})",
                                to_json(id),
                                experiment,
                                time));
    }
    net::Response search(const std::string& fields)
    {
        return post(traces + "/search",
                    R"({"locations": [{"type": "MLFLOW_EXPERIMENT",
                        "mlflow_experiment": {"experiment_id": "0"}}])" +
                        fields + "}");
    }
    std::string ids(const std::string& fields)
    {
        const auto page = ask(search(fields));
        std::string all;
        if (!page["traces"].is_array()) return all;
        for (const auto& trace : page["traces"].as_array())
            all += trace.text("trace_id") + " ";
        return all;
    }
};

TEST_F(TraceCallsTest, ATraceComesBackWithThePlaceOfItsFiles)
{
    const auto started = start("tr-1");
    expect_golden("trace.json", started);
    EXPECT_EQ(get(traces + "/tr-1", {}).body, started.body);
    const auto batch = ask(get(traces + "/batchGet", {{"trace_ids", "tr-1"}, {"trace_ids", "zz"}}));
    EXPECT_EQ(batch["traces"].as_array().size(), 1U);
    const auto infos = ask(post(traces + "/batchGetInfos", R"({"trace_ids": ["tr-1"]})"));
    EXPECT_EQ(infos["trace_infos"].as_array().at(0).text("trace_id"), "tr-1");
}

TEST_F(TraceCallsTest, WrongTracesAreRefused)
{
    EXPECT_THAT(refusal(post(traces, "{}")), HasSubstr("'trace'"));
    EXPECT_THAT(refusal(post(traces, R"({"trace": {}})")), HasSubstr("'trace.trace_info'"));
    EXPECT_THAT(refusal(post(traces, R"({"trace": {"trace_info": {"trace_id": "t"}}})")),
                HasSubstr("'trace.trace_info.trace_location'"));
    EXPECT_EQ(start("tr-1", "x").status, 400);
    EXPECT_EQ(start("../x").status, 400);
    EXPECT_EQ(start("a/b").status, 400);
    EXPECT_EQ(refusal(start("tr-1", "2026-03-01T12:30:05Z", "99")),
              "404 RESOURCE_DOES_NOT_EXIST: No Experiment with id=99 exists");
    EXPECT_EQ(refusal(get(traces + "/none", {})),
              "404 RESOURCE_DOES_NOT_EXIST: Trace with ID 'none' not found.");
    EXPECT_THAT(refusal(get(traces + "/batchGet", {})), HasSubstr("'trace_ids'"));
}

TEST_F(TraceCallsTest, AreSearchedAndPaged)
{
    ask(start("tr-1", "2026-03-01T12:30:05Z"));
    ask(start("tr-2", "2026-03-01T12:30:06Z"));
    EXPECT_EQ(ids(""), "tr-2 tr-1 ");
    EXPECT_EQ(ids(R"(, "order_by": ["timestamp_ms ASC"])"), "tr-1 tr-2 ");
    EXPECT_EQ(ids(R"(, "filter": "trace.name = 'f' AND request_id = 'tr-1'")"), "tr-1 ");
    EXPECT_EQ(ids(R"(, "filter": "metadata.`mlflow.sourceRun` = 'none'")"), "");
    const auto first = ask(search(R"(, "max_results": 1)"));
    EXPECT_EQ(ids(fmt::format(R"(, "page_token": "{}")", first.text("next_page_token"))), "tr-1 ");
    for (const auto* fields : {R"(, "max_results": 501)",
                               R"(, "max_results": 0)",
                               R"(, "page_token": "xx")",
                               R"(, "filter": "bogus = 'x'")",
                               R"(, "order_by": ["bogus"])"})
        EXPECT_EQ(search(fields).status, 400) << fields;
    EXPECT_THAT(refusal(post(traces + "/search", "{}")), HasSubstr("'locations'"));
}

TEST_F(TraceCallsTest, AreFoundByRunsThatTheyWereLinkedTo)
{
    ask(start("tr-1"));
    ask(start("tr-2"));
    const auto one = new_run();
    const auto link = [this](const std::string& run, const std::string& list) {
        return post("traces/link-to-run",
                    fmt::format(R"({{"run_id": "{}", "trace_ids": {}}})", run, list));
    };
    const auto of_run = [&](const std::string& run) {
        return ids(fmt::format(R"(, "filter": "run_id = '{}'")", run));
    };
    ask(link(one, R"(["tr-1", "none"])"));
    ask(link(one, R"(["tr-1"])"));
    EXPECT_EQ(of_run(one), "tr-1 ");
    EXPECT_EQ(of_run("r"), "tr-1 tr-2 ");  // the run that wrote them
    EXPECT_EQ(ids(fmt::format(R"x(, "filter": "run_id IN ('{}', 'x')")x", one)), "tr-1 ");
    EXPECT_EQ(link("none", R"(["tr-1"])").status, 404);
    std::string many = R"(["a")";
    for (int i = 0; i < 100; ++i)
        many += R"(, "a")";
    EXPECT_THAT(refusal(link(one, many + "]")),
                HasSubstr("Cannot link more than 100 traces to a run in a single request. Provided"
                          " 101 traces."));
    ask(post("traces/delete-traces", R"({"experiment_id": "0", "request_ids": ["tr-1"]})"));
    EXPECT_EQ(of_run(one), "");
}

TEST_F(TraceCallsTest, TagsChangeAndTracesGo)
{
    ask(start("tr-1"));
    ask(send("PATCH", traces + "/tr-1/tags", {}, R"({"key": "k", "value": "v"})"));
    ask(send("DELETE", traces + "/tr-1/tags", {}, R"({"key": "k"})"));
    EXPECT_EQ(send("DELETE", traces + "/tr-1/tags", {}, R"({"key": "k"})").status, 404);
    EXPECT_EQ(send("PATCH", traces + "/none/tags", {}, R"({"key": "k"})").status, 404);
    const auto remove = [this](const std::string& fields) {
        return post("traces/delete-traces", R"({"experiment_id": "0")" + fields + "}");
    };
    EXPECT_THAT(refusal(remove("")),
                HasSubstr("Either `max_timestamp_millis` or `trace_ids` must be specified."));
    EXPECT_EQ(remove(R"(, "request_ids": ["a"], "max_traces": 1)").status, 400);
    EXPECT_EQ(remove(R"(, "request_ids": ["a"], "max_timestamp_millis": 1)").status, 400);
    EXPECT_EQ(remove(R"(, "max_timestamp_millis": 1, "max_traces": 0)").status, 400);
    EXPECT_EQ(ask(remove(R"(, "request_ids": ["tr-1"])")).integer("traces_deleted"), 1);
    EXPECT_EQ(ask(remove(R"(, "max_timestamp_millis": "9")")).integer("traces_deleted"), 0);
}

TEST_F(TraceCallsTest, PromptsAreLinkedToTraces)
{
    start("tr-1");
    start("tr-2");
    const std::string link = "traces/link-prompts";
    EXPECT_EQ(post(link, R"({"trace_id": "tr-1", "prompt_versions":
                             [{"name": "greet", "version": "3"}]})")
                  .body,
              "{}\n");
    EXPECT_EQ(ids(R"(, "filter": "prompt = 'greet/3'")"), "tr-1 ");
    EXPECT_EQ(ids(R"(, "filter": "prompt = 'greet/4'")"), "");
    EXPECT_THAT(refusal(search(R"(, "filter": "prompt = 'greet'")")), HasSubstr("name/version"));
    EXPECT_THAT(refusal(search(R"(, "filter": "prompt LIKE 'greet/%'")")),
                HasSubstr("cannot be compared"));
    EXPECT_THAT(refusal(post(link, R"({"prompt_versions": []})")), HasSubstr("'trace_id'"));
    EXPECT_THAT(refusal(post(link, R"({"trace_id": "tr-1"})")), HasSubstr("'prompt_versions'"));
    EXPECT_THAT(refusal(post(link, R"({"trace_id": "tr-1", "prompt_versions": [{"name": "a/b",
                                       "version": "1"}]})")),
                HasSubstr("prompt_versions[0].name"));
    EXPECT_THAT(refusal(post(link, R"({"trace_id": "tr-1", "prompt_versions": [{"name": "a",
                                       "version": "x"}]})")),
                HasSubstr("version"));
    EXPECT_EQ(refusal(post(link, R"({"trace_id": "tr-9", "prompt_versions": [{"name": "a",
                                     "version": "1"}]})")),
              "404 RESOURCE_DOES_NOT_EXIST: Trace with ID 'tr-9' not found.");
}

}  // namespace
}  // namespace ponk::api::mlflow
