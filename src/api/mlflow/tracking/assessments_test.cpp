// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

const std::string traces = "/api/3.0/mlflow/traces";

class AssessmentCallsTest : public MlflowTest {
protected:
    void SetUp() override
    {
        ask(post(traces, R"({"trace": {"trace_info": {"trace_id": "tr-1", "trace_location": {
            "mlflow_experiment": {"experiment_id": "0"}}, "request_time": "2026-03-01T12:30:05Z"}}})"));
    }
    net::Response create(const std::string& fields)
    {
        return post(traces + "/tr-1/assessments", R"({"assessment": {)" + fields + "}}");
    }
    net::Response change(const std::string& mask, const std::string& fields)
    {
        return send("PATCH",
                    traces + "/tr-1/assessments/a-1",
                    {},
                    fmt::format(R"({{"assessment": {{{}}}, "update_mask": "{}"}})", fields, mask));
    }
    const std::string feedback_ = R"("assessment_id": "a-1", "assessment_name": "good",
        "source": {"source_type": "HUMAN", "source_id": "ann"}, "metadata": {"k": "v"},
        "create_time": "2026-03-01T12:30:06Z", "last_update_time": "2026-03-01T12:30:06.5Z",
        "span_id": "0123456789abcdef", "rationale": "so",
        "feedback": {"value": 0.5, "error": {"error_code": "E", "error_message": "m"}})";
};

TEST_F(AssessmentCallsTest, OneIsMadeShownChangedAndDeleted)
{
    const auto made = create(feedback_);
    expect_golden("assessment.json", made);
    EXPECT_EQ(get(traces + "/tr-1/assessments/a-1", {}).body, made.body);
    const auto trace = ask(get(traces + "/tr-1", {}))["trace"]["trace_info"];
    EXPECT_EQ(to_json(trace["assessments"].as_array().at(0)), to_json(ask(made)["assessment"]));
    const auto changed = ask(change("assessmentName,feedback,metadata",
                                    R"("assessment_name": "better", "feedback": {"value": "yes"},
                                       "metadata": {"l": "w"})"))["assessment"];
    EXPECT_EQ(changed.text("assessment_name"), "better");
    EXPECT_EQ(to_json(changed["feedback"]), R"({"value":"yes"})");
    EXPECT_EQ(to_json(changed["metadata"]), R"({"k":"v","l":"w"})");
    EXPECT_EQ(changed.text("rationale"), "so");
    ask(send("DELETE", traces + "/tr-1/assessments/a-1", {}, "{}"));
    EXPECT_EQ(get(traces + "/tr-1/assessments/a-1", {}).status, 404);
}

TEST_F(AssessmentCallsTest, WhatIsExpectedMayBeAList)
{
    const auto made = ask(create(R"("assessment_name": "wanted", "expectation": {
        "serialized_value": {"serialization_format": "JSON_FORMAT", "value": "[1, {\"a\": 2}]"}})"));
    EXPECT_EQ(made["assessment"]["expectation"]["serialized_value"].text("value"),
              R"([1,{"a":2}])");
    const auto issue = ask(create(R"("assessment_name": "i-1", "issue": {"issue_name": "slow"})"));
    EXPECT_EQ(issue["assessment"]["issue"].text("issue_name"), "slow");
}

TEST_F(AssessmentCallsTest, WrongOnesAreRefused)
{
    EXPECT_THAT(refusal(post(traces + "/tr-1/assessments", "{}")), HasSubstr("'assessment'"));
    EXPECT_THAT(refusal(create(R"("assessment_name": "x")")), HasSubstr("Exactly one of"));
    EXPECT_THAT(refusal(create(R"("feedback": {"value": 1})")),
                HasSubstr("'assessment.assessment_name'"));
    EXPECT_THAT(refusal(create(R"("assessment_name": "x", "expectation": {})")),
                HasSubstr("must be specified"));
    for (const auto* fields : {R"("source": {"source_type": "CAT"})",
                               R"("assessment_id": "../a")",
                               R"("metadata": {"k": 1})",
                               R"("create_time": "soon")",
                               R"("span_id": 5)"})
        EXPECT_EQ(
            create(fmt::format(R"("assessment_name": "x", "feedback": {{}}, {})", fields)).status,
            400)
            << fields;
    EXPECT_EQ(create(R"("assessment_name": "x", "expectation": {"serialized_value": {
        "serialization_format": "JSON_FORMAT", "value": "{"}})")
                  .status,
              400);
    ask(create(feedback_));
    EXPECT_THAT(refusal(change("bogus", "")), HasSubstr("'update_mask'"));
    EXPECT_THAT(refusal(change("expectation", R"("expectation": {"value": 1})")),
                HasSubstr("Cannot update expectation value on a Feedback assessment."));
    EXPECT_EQ(change("feedback", R"("expectation": {"value": 1})").status, 400);
    EXPECT_EQ(refusal(post(traces + "/none/assessments",
                           R"({"assessment": {"assessment_name": "x", "feedback": {}}})")),
              "404 RESOURCE_DOES_NOT_EXIST: Trace with ID 'none' not found.");
}

}  // namespace
}  // namespace ponk::api::mlflow
