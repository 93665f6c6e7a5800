// SPDX-License-Identifier: Apache-2.0
#include "agent/calls.hpp"

#include "agent/garbage.hpp"
#include "agent/home.hpp"
#include "base/field_json.hpp"
#include "base/text.hpp"
#include "executor/docker/docker_executor.hpp"
#include "executor/local/local_executor.hpp"
#include "executor/remote/object_peer.hpp"
#include "executor/remote/run_copy.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/object_trees.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "executor/slurm/slurm_executor.hpp"
#include "os/variables.hpp"
#include "snapshot/transfer.hpp"

#include <algorithm>

namespace ponk::agent {

using namespace executor::remote;
using executor::JobStatus;

namespace {

constexpr std::chrono::minutes lease_time{10};

}  // namespace

Result<std::unique_ptr<Calls>> Calls::make(const Path& home, std::vector<std::string> environment)
{
    TRY(open_home(home));
    auto objects = TRY(snapshot::ObjectStore::open(home / "store"));
    std::unique_ptr<Calls> calls(
        new Calls(home, TRY(HomeIdentity::of(home)), std::move(environment), std::move(objects)));
    TRY(calls->runs_.mark(calls->identity_.text()));
    const auto trees = executor::trees_of(calls->objects_);
    calls->executors_.emplace("remote", TRY(executor::local::make_executor({home, trees})));
    calls->executors_.emplace(
        "slurm", TRY(executor::slurm::make_executor({home, *calls->executors_.at("remote")})));
    calls->executors_.emplace("remotedocker", TRY(executor::docker::make_executor({home, trees})));
    return calls;
}

Calls::Calls(Path home,
             HomeIdentity identity,
             std::vector<std::string> environment,
             snapshot::ObjectStore objects)
    : home_(std::move(home)), identity_(std::move(identity)), environment_(std::move(environment)),
      objects_(std::move(objects)), runs_(home_), lease_(objects_.root())
{
}

Result<Reply> Calls::carry_out(const Json& head,
                               std::string payload,
                               const executor::Progress& progress,
                               const std::stop_token& stop)
{
    TRY(identity_.check());
    TRY(require_format(stop));
    auto reply = dispatch(head, std::move(payload), progress, stop);
    // What was not found meanwhile may only have gone with the folder.
    if (!reply || reply->head.find("phase") != nullptr) TRY(identity_.check());
    return reply;
}

Result<> Calls::require_format(const std::stop_token& stop)
{
    const auto known = has_format_.lock();
    if (*known) return {};
    TRY(open_format(home_, stop));
    *known = true;
    return {};
}

Result<Reply> Calls::dispatch(const Json& head,
                              std::string payload,
                              const executor::Progress& progress,
                              const std::stop_token& stop)
{
    const auto call = head.text("call");
    if (call == "sync") return sync(head, stop);
    if (call == "stage") return stage(head, progress, stop);
    if (call == "examine") return examine(head, stop);
    if (call == "launch") return launch(head, stop);
    if (call == "cancel") return cancel(head, stop);
    if (call == "collect") return collect(head, stop);
    if (call == "finish") return finish(head, stop);
    if (call == "collected") return note_collected(head);
    if (call == "answer") return deliver(head, std::move(payload));
    if (call == "work") return store_work(head, stop);
    if (call == "clean") return clean(head, stop);
    if (call == "facts") return facts(head, stop);
    if (call == "gpus") return gpus(head, stop);
    if (call == "has-objects") return has_objects(payload, stop);
    if (call == "put-objects") return put_objects(head, std::move(payload), stop);
    if (call == "get-objects") return get_objects(head, stop);
    if (call == "put-input") return put_input(head, payload);
    for (const auto* name :
         {"environments", "environment-lock", "remove-environment", "collect-environments"}) {
        if (call == name) return keep_environments(head, stop);
    }
    return fail(
        ErrorKind::invalid_argument, "ponk-agent does not know the call '{}'", printable(call));
}

Result<executor::Executor*> Calls::executor_for(const Json& head)
{
    const auto type = head.text("type");
    const auto found = executors_.find(type);
    if (found == executors_.end())
        return fail(ErrorKind::invalid_argument,
                    "ponk-agent does not support targets of type '{}'",
                    printable(type));
    return found->second.get();
}

Result<Calls::Subject> Calls::subject_of(const Json& head)
{
    auto id = TRY(RunId::parse(head.text("run")));
    auto directory = runs_.of(id);
    TRY(require_place(id));
    auto* const executor = TRY(executor_for(head));
    return Subject{std::move(id), std::move(directory), executor};
}

Result<> Calls::require_place(const RunId& run) const
{
    if (executor::is_there(runs_.of(run).root()) || !runs_.find_note(run, mark::type) ||
        runs_.is_marked(identity_.text()))
        return {};
    return fail(
        ErrorKind::unreachable,
        "the folder {} on that machine is missing or was replaced: check that its disk is mounted",
        os::in_quotes(home_ / "runs"));
}

std::string Calls::expand(const std::string& path) const
{
    if (path != "~" && !path.starts_with("~/")) return path;
    const auto home = os::variable(environment_, "HOME");
    return home.empty() ? path : home + path.substr(1);
}

Result<executor::Job> Calls::job_of(const Json& head)
{
    auto job = TRY(parse_job(head));
    job.context.directory = runs_.of(job.spec.id);
    job.context.submitter_environment = environment_;
    job.spec.runtime.shared_directory = expand(job.spec.runtime.shared_directory);
    job.spec.program.interpreter = expand(job.spec.program.interpreter);
    TRY(place_inputs(job));
    return job;
}

Result<std::optional<Reply>> Calls::lacking(const executor::Job& job, const std::stop_token& stop)
{
    TRY(lease_.touch(stop));
    if (!TRY(objects_.contains(job.spec.snapshot)))
        return Reply{{{"incomplete", true}, {"manifest", false}}};
    const auto manifest = TRY(objects_.read_manifest(job.spec.snapshot));
    auto missing = TRY(snapshot::missing_objects(objects_, snapshot::objects_of(manifest), stop));
    if (missing.empty()) return std::nullopt;
    missing.resize(std::min(missing.size(), most_digests));
    return Reply{{{"incomplete", true}, {"manifest", true}}, pack_digests(missing)};
}

Result<Reply>
Calls::stage(const Json& head, const executor::Progress& progress, std::stop_token stop)
{
    const auto job = TRY(job_of(head));
    auto* const executor = TRY(executor_for(head));
    if (auto reply = TRY(lacking(job, stop))) return std::move(*reply);
    if (auto reply = TRY(lacking_inputs(job, progress, stop))) return std::move(*reply);
    const auto lock = TRY(runs_.lock(job.spec.id, stop));
    TRY(os::make_directories(job.context.directory.task()));
    TRY(runs_.note(job.spec.id, mark::type, head.text("type")));
    TRY(runs_.note(job.spec.id, mark::snapshot, job.spec.snapshot.text()));
    const auto staged = executor->stage(job, progress, stop);
    // An object that turned out damaged was set aside: it is sent again.
    if (!staged && staged.error().kind() == ErrorKind::damaged) {
        if (auto reply = TRY(lacking(job, stop))) return std::move(*reply);
    }
    if (!staged && executor->environments()->wants_login(job, stop))
        return Reply{{{"login", true}, {"error", error_to_json(staged.error())}}};
    if (!staged) return tl::unexpected(staged.error());
    return Reply{to_json(*staged)};
}

Result<Reply> Calls::examine(const Json& head, std::stop_token stop)
{
    const auto job = TRY(job_of(head));
    auto* const executor = TRY(executor_for(head));
    if (auto reply = TRY(lacking(job, stop))) return std::move(*reply);
    const auto lock = TRY(runs_.lock(job.spec.id, stop));
    TRY(os::make_directories(job.context.directory.task()));
    const auto examination = TRY(executor->environments()->examine(job, stop));
    return Reply{{{"examination", to_json(examination)}}};
}

Result<Reply> Calls::keep_environments(const Json& head, std::stop_token stop)
{
    auto* const keeper = TRY(executor_for(head))->environments();
    const auto call = head.text("call");
    const auto id = head.text("id");
    if (call == "environments") {
        const auto environments = TRY(keeper->list(stop));
        return Reply{{{"environments", to_json(environments)}}};
    }
    if (call == "environment-lock") {
        auto lock = TRY(keeper->lock("", id, stop));
        return Reply{{{"lock", std::move(lock)}}};
    }
    if (call == "remove-environment") {
        const auto removal = TRY(keeper->remove("", id, stop));
        return Reply{{{"removal", to_json(removal)}}};
    }
    const auto rules = TRY(executor::parse_environment_rules(head["rules"]));
    const auto garbage = TRY(keeper->collect_garbage(rules, stop));
    return Reply{{{"garbage", to_json(garbage)}}};
}

Result<Reply> Calls::launch(const Json& head, std::stop_token stop)
{
    const auto job = TRY(job_of(head));
    auto* const executor = TRY(executor_for(head));
    TRY(require_place(job.spec.id));
    const auto lock = TRY(runs_.lock(job.spec.id, stop));
    TRY(executor->launch(job, stop));
    return Reply();
}

Result<Reply> Calls::sync(const Json& head, std::stop_token stop)
{
    const auto subject = TRY(subject_of(head));
    if (!executor::is_there(subject.directory.root())) {
        return fail(ErrorKind::not_found,
                    "that machine has no run '{}' in {}",
                    subject.id.text(),
                    os::in_quotes(home_));
    }
    auto seen = TRY(parse_job_status(head["seen"]));
    const auto there = TRY(parse_growing_files(head["files"]));
    const auto wanted = head.boolean("bytes", true) ? Wanted::bytes : Wanted::lengths;
    // Who has no room for more need not hear of it at once.
    if (wanted == Wanted::bytes)
        add_lengths(subject.directory, there, seen);
    else
        executor::read_lengths(subject.directory, seen);
    const auto wait = std::clamp<std::int64_t>(head.integer("wait"), 0, 60'000);
    const auto status = subject.executor->sync(
        subject.id.text(), subject.directory, seen, after(std::chrono::milliseconds(wait)), stop);
    // An engine that is away does not keep back what the files say.
    const bool away = !status && status.error().kind() == ErrorKind::unreachable;
    if (!status && !away) return tl::unexpected(status.error());
    // After the status: what had ended by then has said all it will.
    auto increment = TRY(read_increment(subject.directory, there, wanted));
    auto answer =
        away ? Json(JsonObject{{"unreachable", error_to_json(status.error())}}) : to_json(*status);
    answer.as_object().set("files", to_json(increment.files));
    answer.as_object().set("more", increment.more);
    if (increment.left_out > 0) answer.as_object().set("left_out", increment.left_out);
    if (status && status->exit)
        answer.as_object().set(
            "outputs", subject.executor->working_copies()->may_have_outputs(subject.directory));
    return Reply{std::move(answer.as_object()), std::move(increment.bytes)};
}

Result<Reply> Calls::cancel(const Json& head, std::stop_token)
{
    const auto subject = TRY(subject_of(head));
    // Also for a run that never came: a launch that is still on its way finds the request.
    TRY(os::make_directories(subject.directory.task()));
    TRY(subject.executor->cancel(
        subject.id.text(), subject.directory, std::chrono::seconds(head.integer("grace"))));
    return Reply();
}

Result<Reply> Calls::collect(const Json& head, std::stop_token stop)
{
    const auto subject = TRY(subject_of(head));
    TRY(lease_.touch(stop));
    const auto lock = TRY(runs_.lock(subject.id, stop));
    if (const auto stored = runs_.find_digest(subject.id, mark::outputs)) {
        if (TRY(objects_.contains(*stored))) return Reply{{{"outputs", stored->text()}}};
    }
    const auto collected =
        TRY(subject.executor->collect(subject.id.text(), subject.directory, {}, stop));
    Reply reply{{{"notices", to_json(collected.notices)}}};
    if (collected.outputs) {
        TRY(runs_.note(subject.id, mark::outputs, collected.outputs->text()));
        reply.head.set("outputs", collected.outputs->text());
    }
    return reply;
}

Result<Reply> Calls::note_collected(const Json& head)
{
    const auto subject = TRY(subject_of(head));
    if (executor::is_there(subject.directory.root()))
        TRY(runs_.note(subject.id, mark::collected, "yes"));
    return Reply();
}

Result<Reply> Calls::deliver(const Json& head, std::string payload)
{
    const auto subject = TRY(subject_of(head));
    TRY(subject.executor->deliver(
        subject.id.text(), subject.directory, head.text("name"), std::move(payload)));
    return Reply();
}

Result<Reply> Calls::store_work(const Json& head, std::stop_token stop)
{
    const auto subject = TRY(subject_of(head));
    TRY(lease_.touch(stop));
    const auto lock = TRY(runs_.lock(subject.id, stop));
    if (const auto tree = TRY(
            subject.executor->working_copies()->fetch(subject.id.text(), subject.directory, stop)))
        return Reply{{{"tree", tree->text()}}};
    // The script may be at work: what it puts in the place of a folder is not followed.
    const auto work =
        executor::RunFolder::open(subject.directory.root(), executor::RunDirectory::work_part());
    if (!work &&
        (work.error().kind() == ErrorKind::not_found || work.error().kind() == ErrorKind::conflict))
        return fail(ErrorKind::not_found, "the working copy no longer exists");
    if (!work) return tl::unexpected(work.error());
    const auto stored =
        TRY(executor::trees_of(objects_)
                .store(work->path(), std::move(stop))
                .map_error([&work](const Error& error) { return work->in_words(error); }));
    if (!stored.outputs) return fail(ErrorKind::damaged, "the working copy has no tree");
    return Reply{{{"tree", stored.outputs->text()}}};
}

Result<Reply> Calls::clean(const Json& head, std::stop_token stop)
{
    const auto subject = TRY(subject_of(head));
    if (!executor::is_there(subject.directory.root())) return Reply();
    const auto lock = TRY(runs_.lock(subject.id, stop));
    TRY(subject.executor->clean(subject.id.text(), subject.directory));
    TRY(runs_.remove(subject.id));
    return Reply();
}

Result<> Calls::remove_garbage(const RunId& run)
{
    const auto lock = TRY(runs_.try_lock(run));
    if (!lock) return {};  // somebody is busy with it
    const auto type = runs_.find_note(run, mark::type).value_or("");
    if (const auto found = executors_.find(type); found != executors_.end())
        TRY(found->second->clean(run.text(), runs_.of(run)));
    return runs_.remove(run);
}

Result<Reply> Calls::facts(const Json& head, std::stop_token stop)
{
    executor::FactsRequest request{{}, environment_};
    if (!head["slurm"].is_null()) TRY(read_fields(head["slurm"], request.slurm.emplace()));
    auto found = TRY(TRY(executor_for(head))->machine()->facts(request, stop));
    return Reply{std::move(found.as_object())};
}

Result<Reply> Calls::gpus(const Json& head, std::stop_token stop)
{
    auto found = TRY(TRY(executor_for(head))->machine()->gpus({{}, environment_}, stop));
    return Reply{std::move(found.as_object())};
}

Result<Reply> Calls::has_objects(const std::string& payload, const std::stop_token& stop)
{
    TRY(lease_.touch(stop));
    const auto digests = TRY(unpack_digests(payload));
    const auto missing = TRY(snapshot::missing_objects(objects_, digests, stop));
    return Reply{{}, pack_digests(missing)};
}

Result<Reply> Calls::put_objects(const Json& head, std::string payload, const std::stop_token& stop)
{
    TRY(lease_.touch(stop));
    const snapshot::ObjectBatch batch{TRY(parse_parts(head["parts"])), std::move(payload)};
    TRY(snapshot::receive_batch(objects_, batch));
    return Reply();
}

Result<Reply> Calls::get_objects(const Json& head, const std::stop_token& stop)
{
    TRY(lease_.touch(stop));
    auto batch = TRY(snapshot::read_batch(objects_, TRY(parse_parts(head["parts"]))));
    return Reply{{{"parts", to_json(batch.parts)}}, std::move(batch.bytes)};
}

void Calls::collect_garbage(const std::stop_token& stop)
{
    lease_.release_if_idle(lease_time);
    const auto remove = [this](const RunId& run) { return remove_garbage(run); };
    static_cast<void>(collect_garbage_if_due(home_, objects_, runs_, remove, stop));
}

}  // namespace ponk::agent
