// SPDX-License-Identifier: Apache-2.0
#include "relay/relay_test_support.hpp"

#include <set>

namespace ponk::relay {
namespace {

constexpr const char* own_experiment = "7";

class ExperimentCallsTest : public RelayTest {
protected:
    // The id that a client is told; `set_experiment` and a look-up are the same call.
    std::string ask_for(const std::string& name)
    {
        const auto found = get("experiments/get-by-name", {{"experiment_name", name}});
        EXPECT_EQ(found["experiment"].text("name"), name);
        return found["experiment"].text("experiment_id");
    }

    Json make(const std::string& experiment)
    {
        return parse_json(post("runs/create", {{"experiment_id", experiment}}).body).value()["run"];
    }
    static Json name_of(const Json& run)
    {
        return value_in(run["data"]["tags"], "ponk.experiment_name");
    }

    // What `mlflow.start_run()` does first in a run.
    void start()
    {
        EXPECT_EQ(post("runs/update", {{"run_id", own_run}, {"status", "RUNNING"}, {"end_time", 0}})
                      .status,
                  200);
    }

    // What the daemon is asked: "IDS: NAMES". Our own run is left out until it is used.
    std::string search(const std::vector<std::string>& ids, JsonObject body = {})
    {
        JsonArray list(ids.begin(), ids.end());
        body.set("experiment_ids", std::move(list));
        net::Request request;
        request.method = "POST";
        request.path = {"api", "2.0", "mlflow", "runs", "search"};
        request.body = to_json(body);
        request.headers = said_;
        const Elsewhere elsewhere{
            [](const std::string& name) {
                return name == "theirs" ? std::optional<std::string>("9") : std::nullopt;
            },
            [](const std::string& id) {
                return id == "9" ? std::optional<std::string>("theirs") : std::nullopt;
            }};
        const auto narrowed = narrowed_search(*recorder_, request, elsewhere);
        const auto sent = narrowed ? parse_json(*narrowed).value() : Json(std::move(body));
        std::string text;
        for (const auto& id : sent["experiment_ids"].as_array())
            text += (text.empty() ? "" : " ") + id.as_string();
        text += ":";
        const auto& scope = sent["ponk_scope"];
        if (const auto& names = scope["names"]; names.is_array()) {
            for (const auto& name : names.as_array())
                text += " " + name.as_string();
        }
        const bool used =
            recorder_->look([](const TrackedState& state) { return state.is_taken(); });
        const bool ours = scope.is_object();
        EXPECT_EQ(scope.text("without"), used || !ours ? "" : own_run);
        return text;
    }
};

TEST_F(ExperimentCallsTest, UntilTheRunIsUsedEachNameIsItsExperiment)
{
    EXPECT_EQ(get("experiments/get", {{"experiment_id", "7"}})["experiment"].text("name"), "iris");
    EXPECT_EQ(ask_for("mine"), own_experiment);
    EXPECT_EQ(get("experiments/get", {{"experiment_id", "7"}})["experiment"].text("name"), "mine");
    EXPECT_EQ(name_of(own()), Json("mine"));
    EXPECT_EQ(ask_for("other"), own_experiment);
    EXPECT_EQ(ask_for("iris"), own_experiment);
    EXPECT_EQ(parse_json(post("experiments/create", {{"name", "new"}}).body)->text("experiment_id"),
              own_experiment);
    EXPECT_EQ(name_of(own()), Json("new"));
}

TEST_F(ExperimentCallsTest, ARunIsWhereTheScriptWentLastBeforeItWasUsed)
{
    ask_for("looked at");
    search({own_experiment});
    ask_for("mine");
    start();
    EXPECT_EQ(name_of(own()), Json("mine"));
    EXPECT_EQ(own()["info"].text("experiment_id"), own_experiment);

    start_again();
    EXPECT_EQ(ask_for("mine"), own_experiment);
    EXPECT_EQ(search({own_experiment}), "7: mine");
}

TEST_F(ExperimentCallsTest, WhoReturnsToTheProjectsNameIsThere)
{
    ask_for("mine");
    ask_for("iris");
    start();
    EXPECT_EQ(name_of(own()), Json());
    EXPECT_EQ(search({own_experiment}), "7:");
}

TEST_F(ExperimentCallsTest, ASearchBeforeTheRunIsUsedLooksAtWhatWasAskedForLast)
{
    EXPECT_EQ(search({own_experiment}), "7:");
    ask_for("a");
    ask_for("b");  // and goes on in its own
    EXPECT_EQ(search({own_experiment}), "7: b");
    EXPECT_EQ(search({own_experiment}, {{"page_token", "t"}}), "7: b");
    EXPECT_EQ(search({own_experiment}), "7: a");
    ask_for("b");
    ask_for("c's \"c\"");
    EXPECT_EQ(search({own_experiment, own_experiment}), "7: b c's \"c\"");
    ask_for("theirs");
    EXPECT_EQ(search({own_experiment}), "7 9: theirs");
    EXPECT_EQ(search({"8"}), "8:");
    EXPECT_EQ(search({own_experiment, "8"}), "7 8:") << "who lists them means all of each";
}

// Looking whether it was done already, a script goes through its experiments.
TEST_F(ExperimentCallsTest, WhoHasSearchedInANameAndAsksForTheNextGoesThere)
{
    ask_for("a");
    EXPECT_EQ(search({own_experiment}), "7: a");
    ask_for("b");
    EXPECT_EQ(search({own_experiment}), "7: b");
    EXPECT_EQ(search({own_experiment}), "7: b");
    start();
    EXPECT_EQ(name_of(own()), Json("b"));
}

TEST_F(ExperimentCallsTest, OnceTheRunIsUsedEachNameIsSearchedByItsOwnId)
{
    ask_for("mine");
    start();
    const auto base = ask_for("base");
    const auto theirs = ask_for("theirs");
    EXPECT_EQ(base.size(), 18U);
    EXPECT_NE(base, theirs);
    EXPECT_EQ(ask_for("mine"), own_experiment);
    EXPECT_EQ(get("experiments/get", {{"experiment_id", base}})["experiment"].text("name"), "base");

    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(search({own_experiment}), "7: mine");
        EXPECT_EQ(search({base}), "7: base");
        EXPECT_EQ(search({base, theirs}), "7 9: base theirs");
        EXPECT_EQ(search({base, "9"}), "7 9: base theirs");
        EXPECT_EQ(search({base, "8"}), "7 8:");  // better too many than none
        start_again();
    }
    ask_for("iris");
    EXPECT_EQ(search({own_experiment, base}), "7:");
}

TEST_F(ExperimentCallsTest, RunsOfAnotherNameAreShownInIt)
{
    ask_for("mine");
    EXPECT_EQ(make(own_experiment)["info"].text("run_id"), own_run);
    const auto second = ask_for("second");
    const auto child = make(second);
    EXPECT_EQ(name_of(child), Json("second"));
    EXPECT_EQ(child["info"].text("experiment_id"), second);
    EXPECT_EQ(name_of(make(own_experiment)), Json("mine"));
    EXPECT_EQ(name_of(make("0")), Json("mine"));
    EXPECT_EQ(name_of(own()), Json("mine"));

    start_again();
    const auto shown = get("runs/get", {{"run_id", child["info"].text("run_id")}})["run"];
    EXPECT_EQ(shown["info"].text("experiment_id"), second);
    EXPECT_EQ(name_of(make(ask_for("second"))), Json("second"));
}

// MLFLOW_EXPERIMENT_NAME that a script has set itself is asked for when its second run begins, and
// compared with MLFLOW_EXPERIMENT_ID.
TEST_F(ExperimentCallsTest, ANameForTheSecondRunSharesTheIdWhereNobodyHasNamedAny)
{
    start();
    post("runs/update", {{"run_id", own_run}, {"status", "FINISHED"}, {"end_time", 9}});
    EXPECT_EQ(ask_for("foo"), own_experiment);
    EXPECT_EQ(name_of(make(own_experiment)), Json("foo"));
    EXPECT_EQ(name_of(own()), Json());
    EXPECT_NE(ask_for("bar"), own_experiment);
    EXPECT_EQ(ask_for("foo"), own_experiment);
}

TEST_F(ExperimentCallsTest, TheDaemonKnowsTheRunsExperimentByItsOwnId)
{
    start();
    const auto other = ask_for("other");
    std::string target = "/api/2.0/mlflow/traces?experiment_ids=" + other + "&max_results=5";
    std::string body = R"({"experiment_id":")" + other + R"(","value":"a )" + other + R"("})";
    put_own_experiment(*recorder_, target, body);
    EXPECT_EQ(target, "/api/2.0/mlflow/traces?experiment_ids=7&max_results=5");
    EXPECT_EQ(body, R"({"experiment_id":"7","value":"a )" + other + R"("})");

    EXPECT_EQ(post("logged-models", {{"experiment_id", other}, {"name", "m"}}).status, 200);
    EXPECT_EQ(post("logged-models", {{"experiment_id", "8"}, {"name", "m"}}).status, 0);
}

// MLflow's client for Python says where it is: nothing is to be guessed.
class ExactExperiments : public ExperimentCallsTest {
protected:
    ExactExperiments() { be_in(own_experiment); }

    void be_in(const std::string& id, const std::string& named = {})
    {
        said_ = {{"X-Ponk-Experiment", id}};
        if (!named.empty()) said_.emplace_back("X-Ponk-Experiment-Name", named);
    }
    // As `mlflow.set_experiment` does.
    std::string set(const std::string& name)
    {
        const auto id = ask_for(name);
        be_in(id);
        return id;
    }
};

TEST_F(ExactExperiments, NamesHaveIdsOfTheirOwnBeforeTheRunIsUsed)
{
    const auto mine = set("mine");
    const auto base = ask_for("base");
    EXPECT_EQ(std::set({std::string(own_experiment), mine, base}).size(), 3U);
    EXPECT_EQ(search({mine}), "7: mine");
    EXPECT_EQ(search({base}), "7: base");
    EXPECT_EQ(search({mine}), "7: mine");
    EXPECT_EQ(search({own_experiment}), "7:");
    EXPECT_EQ(get("experiments/get", {{"experiment_id", "7"}})["experiment"].text("name"), "iris");
    EXPECT_EQ(own()["info"].text("experiment_id"), mine);

    start();
    EXPECT_EQ(name_of(own()), Json("mine"));
    EXPECT_EQ(own()["info"].text("experiment_id"), mine);
    be_in(base);
    EXPECT_EQ(own()["info"].text("experiment_id"), mine) << "it does not move";
    EXPECT_EQ(name_of(make(base)), Json("base"));
    EXPECT_EQ(name_of(make(own_experiment)), Json());
}

TEST_F(ExactExperiments, TheFirstRunThatIsMadeIsWhereItIsMade)
{
    set("looked at");
    const auto mine = set("mine");
    ask_for("looked at");
    const auto run = make(mine);
    EXPECT_EQ(run["info"].text("run_id"), own_run);
    EXPECT_EQ(run["info"].text("experiment_id"), mine);
    EXPECT_EQ(name_of(run), Json("mine"));
}

TEST_F(ExactExperiments, AnIdThatIsNoneOfOursChangesNothing)
{
    be_in("12");
    EXPECT_EQ(own()["info"].text("experiment_id"), own_experiment);
    start();
    EXPECT_EQ(name_of(own()), Json());
}

TEST_F(ExactExperiments, ANameInTheEnvironmentIsWhatTheOwnIdMeans)
{
    be_in(own_experiment, "caf%C3%A9%20%2F");
    EXPECT_EQ(ask_for("caf\u00e9 /"), own_experiment);
    EXPECT_EQ(search({own_experiment}), "7: caf\u00e9 /");
    start();
    EXPECT_EQ(name_of(own()), Json("caf\u00e9 /"));
    EXPECT_EQ(own()["info"].text("experiment_id"), own_experiment);
    EXPECT_EQ(name_of(make(own_experiment)), Json("caf\u00e9 /"));
    EXPECT_NE(ask_for("base"), own_experiment);
}

}  // namespace
}  // namespace ponk::relay
