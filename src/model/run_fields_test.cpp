// SPDX-License-Identifier: Apache-2.0
#include "model/run_fields.hpp"

#include <gmock/gmock.h>

namespace ponk::model {
namespace {

using testing::HasSubstr;

Run full_run()
{
    Run run;
    run.id = RunId::parse("0123456789abcdef0123456789abcdef").value();
    run.number = 7;
    run.project = "p";
    run.project_path = "/p";
    run.name = "n";
    run.state = RunState::failed;
    run.exit_code = 3;
    run.error = Error(ErrorKind::timeout, "too long", "Wait.");
    run.script_name = "train.py";
    run.arguments = {"--lr", "0.1"};
    run.target = "docker";
    run.target_type = "localdocker";
    run.run_configuration = "c";
    run.framework = "Python";
    run.user = "u";
    run.host = "h";
    run.created = 1;
    run.started = 2;
    run.ended = 3;
    run.imported = 4;
    run.snapshot = "s";
    run.outputs = "o";
    run.rerun_of = "r";
    run.parent = "q";
    run.tracked = false;
    run.hidden = true;
    run.cancel_requested = true;
    run.job = "j";
    run.timings = {{"run", 5}};
    run.tags = {{"a", "b"}};
    run.git = JsonObject{{"commit", "c"}};
    run.configuration = JsonObject{{"version", 2}};
    run.environment = JsonObject{{"id", "e"}};
    run.evidence = JsonObject{{"signal", 9}};
    run.gpu = JsonObject{{"verdict", "confirmed"}};
    run.warnings = {"w"};
    return run;
}

class Forms : public testing::TestWithParam<RunForm> {};

TEST_P(Forms, what_is_written_is_read_back)
{
    const Json written = write_run(full_run(), GetParam());
    model::Run back;

    ASSERT_TRUE(read_run(written, GetParam(), back));

    // What people see in words is not read.
    auto again = write_run(back, GetParam());
    for (const auto* name :
         {"created_utc", "start_time_utc", "end_time_utc", "tags", "gpu_verdict", "gpu_evidence"}) {
        if (GetParam() != RunForm::note && again.find(name) != nullptr)
            again.set(name, written[name]);
    }
    EXPECT_EQ(to_json(Json(again)), to_json(written));
}

TEST_P(Forms, a_new_run_has_nothing_that_cannot_be_read)
{
    model::Run fresh;
    fresh.id = RunId::make();
    model::Run back;

    EXPECT_TRUE(read_run(write_run(fresh, GetParam()), GetParam(), back));
    EXPECT_TRUE(read_run(JsonObject(), GetParam(), back));
}

TEST_P(Forms, a_wrong_field_is_named_and_the_others_are_read)
{
    auto json = write_run(full_run(), GetParam());
    json.set("user", 7);
    model::Run back;

    const auto read = read_run(json, GetParam(), back);

    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message(), HasSubstr("'user' must be a text"));
    EXPECT_EQ(back.warnings, full_run().warnings) << "the last of the list";
    EXPECT_EQ(back.user, "");
}

INSTANTIATE_TEST_SUITE_P(
    , Forms, testing::Values(RunForm::details, RunForm::note, RunForm::copy, RunForm::api));

TEST(RunDetails, leave_out_what_has_its_default)
{
    EXPECT_EQ(to_json(Json(write_run(model::Run(), RunForm::details))), "{}");
}

}  // namespace
}  // namespace ponk::model
