// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doubles/fake_executor.hpp"
#include "engine/engine.hpp"
#include "model/metric_journal.hpp"
#include "os/process.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace ponk::engine {

using model::RunState;
using namespace std::chrono_literals;

// A whole engine on a real history and object store; only the machine below is made of threads.
class Engines : public testing::Test {
protected:
    Engines() : root_(*os::make_temporary_directory(testing::TempDir(), "ponk-engine-"))
    {
        std::filesystem::create_directories(root_ / "project");
        for (const char* name : {"ok.py", "three.py", "wait.py", "metrics.py", "many.py"})
            static_cast<void>(os::replace_file(root_ / "project" / name, "x"));
        history_ = std::move(*store::History::open(root_ / "home" / "history"));
        objects_.emplace(std::move(*snapshot::ObjectStore::open(root_ / "home" / "store")));
        secrets_.emplace(root_ / "home", secrets::Secrets::Keyring::never);
        executor::fake::Options options;
        options.scripts["ok.py"] = [this](executor::fake::Process& process) {
            ++starts_;
            process.write("hello\n");
            return 0;
        };
        options.scripts["three.py"] = [](executor::fake::Process&) { return 3; };
        options.scripts["wait.py"] = [this](executor::fake::Process& process) {
            ++starts_;
            while (!release_ && !process.asked_to_end(5ms)) {
            }
            return release_ ? 0 : 143;
        };
        options.scripts["metrics.py"] = [](executor::fake::Process& process) {
            const auto folder = process.job().context.directory.task() / "journal";
            std::filesystem::create_directories(folder);
            static_cast<void>(os::replace_file(
                folder / "1",
                model::journal_record(
                    JsonObject{{"metric", "loss"}, {"value", 0.5}, {"step", 1}, {"time", 1000}})));
            return 0;
        };
        options.scripts["many.py"] = [](executor::fake::Process& process) {
            const auto folder = process.job().context.directory.task() / "journal";
            std::filesystem::create_directories(folder);
            std::string text;
            for (int step = 0; step < 45'000; step += 100) {
                text += model::journal_record(JsonObject{{"metric", "loss"},
                                                         {"values", JsonArray(100, Json(0.5))},
                                                         {"step", step},
                                                         {"time", 1000}});
            }
            text += model::journal_record(JsonObject{{"tag", "stage"}, {"value", "final"}});
            static_cast<void>(os::replace_file(folder / "1", text));
            return 0;
        };
        executors_.emplace("local", executor::fake::make_executor(std::move(options)));
        start();
    }

    ~Engines() override
    {
        release_ = true;
        engine_.reset();
        executors_.clear();
        history_.reset();
        static_cast<void>(os::remove_tree(root_));
    }

    void start(QueueRules rules = {})
    {
        engine_ = std::make_unique<Engine>(
            Context{root_ / "home", *history_, *objects_, *secrets_, executors_, notifier_}, rules);
    }

    RunRequest request(const std::string& script)
    {
        RunRequest request;
        request.id = RunId::make();
        request.project = root_ / "project";
        request.script = script;
        submitter_.environment = {"PATH=/usr/bin:/bin", "HOME=" + root_.native()};
        return request;
    }

    model::Run wait_until(const RunId& id, RunState state)
    {
        model::Run run;
        for (int i = 0; i < 2000; ++i) {
            run = *history_->get_run(id);
            if (run.state == state || model::is_terminal(run.state)) break;
            std::this_thread::sleep_for(5ms);
        }
        return run;
    }
    model::Run wait_for_end(const RunId& id) { return wait_until(id, RunState::lost); }

    Path root_;
    Submitter submitter_;
    std::atomic<int> starts_{0};
    std::atomic<bool> release_{false};
    std::unique_ptr<store::History> history_;
    std::optional<snapshot::ObjectStore> objects_;
    std::optional<secrets::Secrets> secrets_;
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    Notifier notifier_;
    std::unique_ptr<Engine> engine_;
};

}  // namespace ponk::engine
