// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/host_detach.hpp"

#include "base/text.hpp"
#include "cli/hosts/host_lock.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/runs/run_search.hpp"
#include "config/project/project.hpp"
#include "model/run_spec.hpp"
#include "model/run_state.hpp"
#include "net/target.hpp"
#include "os/directory.hpp"
#include "ssh/connection.hpp"
#include "ssh/host_home.hpp"
#include "ssh/key_pair.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::cli {
namespace {

// The folder goes where all runs in it are this machine's; else those runs only, because other
// machines reach the host as the same user. First the newest ponk-agent there clears what runs and
// environments have outside of the folder, which only its records know. Lines of the answer begin
// with what they are: "folder PATH", "other RUN" for a run of others, "stays THING". ponk-box was
// the program's name in the first version.
constexpr const char* remove_files_script = R"sh(
set -eu
take; own=$value
[ -d "$h" ] || exit 0
found=
for program in "$h"/bin/ponk-agent-* "$h"/bin/ponk-box-*; do
    [ ! -e "$program" ] || found=yes
done
if [ -z "$found" ]; then echo "'$h' is not a ponk folder" >&2; exit 4; fi
printf 'folder %s\n' "$h"
clear_out() {
    find "$1" -type d ! -perm -700 -exec chmod u+rwx {} + 2>/dev/null || :
    rm -rf -- "$1"
}
take_leave() {
    require_ours "$h/bin"
    for name in $(ls -t "$h/bin"); do
        case "$name" in ponk-agent-* | ponk-box-*) ;; *) continue ;; esac
        [ -f "$h/bin/$name" ] && [ -x "$h/bin/$name" ] || continue
        require_ours "$h/bin/$name"
        if stays=$(printf '%s\n' "$own" | "$h/bin/$name" leave --home "$h" 2>/dev/null); then
            [ -z "$stays" ] || printf '%s\n' "$stays" | sed 's/^/stays /'
            return 0
        fi
    done
    [ ! -d "$h/runs" ] || echo "stays containers and images of ponk, if there are any: no program there can remove them"
}
take_leave
others=
for run in "$h"/runs/*; do
    [ -d "$run" ] || continue
    case "
$own
" in
    *"
${run##*/}
"*) ;;
    *) others=yes; printf 'other %s\n' "${run##*/}" ;;
    esac
done
if [ -n "$others" ]; then
    printf '%s\n' "$own" | while IFS= read -r run; do
        [ -z "$run" ] || [ ! -d "$h/runs/$run" ] || clear_out "$h/runs/$run"
    done
else
    clear_out "$h"
    [ -z "$l" ] || rm -f "$l"
fi
)sh";

// Images of some GiB do not go in a moment.
constexpr std::chrono::minutes removal_limit{5};

// What the script above tells.
struct Removal {
    std::string folder;
    std::vector<std::string> others;
    std::vector<std::string> stays;
};

Removal read_removal(std::string_view said)
{
    Removal removal;
    for (const auto& line : split(said, '\n')) {
        const auto word = line.substr(0, line.find(' '));
        const auto rest = word.size() < line.size() ? printable(line.substr(word.size() + 1)) : "";
        if (word == "folder") removal.folder = rest;
        if (word == "other") removal.others.push_back(rest);
        if (word == "stays") removal.stays.push_back(rest);
    }
    return removal;
}

Deadline limit()
{
    return after(std::chrono::seconds(60));
}

// Every run of this machine that went to a host, as folders there are called.
std::vector<std::string> own_runs(const os::Path& home)
{
    std::vector<std::string> runs;
    const auto entries = os::list_directory(home / "runs");
    if (!entries) return runs;
    for (const auto& entry : *entries) {
        // "box" in a home that is not converted yet: this must work without a daemon.
        for (const auto* name : {"host", "box"})
            if (::access((home / "runs" / entry.name / name).c_str(), F_OK) == 0)
                runs.push_back(entry.name);
    }
    return runs;
}

bool goes_to(const Json& run, const ssh::Address& address)
{
    const auto spec = model::parse_run_spec(run["configuration"]);
    if (!spec || spec->location.kind != model::Location::Kind::host) return false;
    const auto& host = spec->location.host;
    auto there = ssh::parse_address(host.address, host.user);
    if (!there) return false;
    if (host.port != 0) there->port = host.port;
    return there->identity() == address.identity();
}

// Other targets of the project that reach the same host, whoever wrote their files.
std::vector<std::string> neighbours(const ssh::Access& access, const os::Path& compute_file)
{
    std::vector<std::string> files;
    const auto project = config::open_project(compute_file.parent_path().parent_path());
    if (!project) return files;
    for (const auto& name : project->targets) {
        auto file = project->config_folder() / (name + ".compute");
        if (file == compute_file) continue;
        const auto target = config::load_target(*project, name);
        if (!target || !config::is_another_machine(*target)) continue;
        const auto there = access_of(access.home, *target);
        if (there && there->address.identity() == access.address.identity())
            files.push_back(file.string());
    }
    return files;
}

}  // namespace

Result<HostDetach> HostDetach::make(Context& context,
                                    const ssh::Access& access,
                                    std::string scratch,
                                    os::Path compute_file,
                                    DetachRequest request)
{
    return HostDetach(context,
                      access,
                      std::move(scratch),
                      std::move(compute_file),
                      request,
                      TRY(lock_host(context, access)));
}

HostDetach::HostDetach(Context& context,
                       const ssh::Access& access,
                       std::string scratch,
                       os::Path compute_file,
                       DetachRequest request,
                       os::FileLock lock)
    : context_(&context), access_(access), scratch_(std::move(scratch)),
      compute_file_(std::move(compute_file)), request_(request), lock_(std::move(lock))
{
}

std::optional<ssh::Settings> HostDetach::settings_left() const
{
    auto read = ssh::HostFolder(access_.home, access_.address).read_settings();
    if (!read || !*read) return std::nullopt;
    std::erase_if((*read)->targets, [&](const std::string& file) {
        return file == compute_file_.string() || ::access(file.c_str(), F_OK) != 0;
    });
    auto& targets = (*read)->targets;
    for (auto& file : neighbours(access_, compute_file_)) {
        if (std::ranges::find(targets, file) == targets.end()) targets.push_back(std::move(file));
    }
    return *read;
}

Result<std::vector<std::string>> HostDetach::runs_there() const
{
    auto& daemon = *TRY(context_->daemon());
    using model::RunState;
    std::vector<std::string> found;
    for (const auto state : {RunState::not_started,
                             RunState::preparing,
                             RunState::queued,
                             RunState::starting,
                             RunState::running,
                             RunState::finalizing}) {
        const JsonObject search{{"hidden", true}, {"state", model::to_string(state)}};
        for (const Json& run : TRY(search_runs(daemon, search, 0))) {
            const auto id = run.text("run_id");
            const Json whole = TRY(daemon.get("/runs/" + net::percent_encode(id)));
            if (goes_to(whole, access_.address)) found.push_back(id);
        }
    }
    return found;
}

Result<> HostDetach::require_no_runs() const
{
    const auto left = settings_left();
    const bool way_stays =
        left && (!left->targets.empty() || request_.key == DetachRequest::Key::keep);
    if (way_stays && request_.files == DetachRequest::Files::stay) return {};
    const auto runs = runs_there();
    // Who wants to leave need not have a daemon that works.
    if (!runs) {
        context_->note("cannot find out whether runs are active on '{}': {}",
                       access_.address.text(),
                       runs.error().message());
        return {};
    }
    if (runs->empty()) return {};
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("{} on '{}': {}",
                          runs->size() == 1 ? "a run is active" : "runs are active",
                          access_.address.text(),
                          join(*runs, ", ")),
              "Wait for it ('ponk experiment status RUN') or cancel it ('ponk experiment cancel "
              "RUN'). With '--force' it continues there, and ponk collects its log and outputs "
              "when the machine is attached again."));
}

JsonObject HostDetach::say()
{
    const ssh::HostFolder folder(access_.home, access_.address);
    if (request_.files == DetachRequest::Files::remove) remove_files();
    const auto settings = settings_left();
    if (!settings) return result_;
    const bool shared = !settings->targets.empty();
    if (shared || request_.key == DetachRequest::Key::keep) {
        if (shared) {
            context_->note("the key of '{}' is kept: target '{}' uses it too",
                           access_.address.text(),
                           settings->targets.front());
        } else {
            context_->note("the key is kept on '{}' and in {}",
                           access_.address.text(),
                           os::in_quotes(folder.path()));
        }
        const auto written = folder.write_settings(*settings);
        if (!written) context_->note("{}", written.error().message());
        return result_;
    }
    if (!settings->installed_key.empty()) remove_key(settings->installed_key);
    if (auto connection = ssh::Connection::make(access_)) connection->close();
    const auto removed = folder.remove();
    if (!removed) context_->note("{}", removed.error().message());
    result_.set("folder_removed", removed.has_value());
    return result_;
}

void HostDetach::remove_key(const std::string& line)
{
    auto connection = ssh::Connection::make(access_);
    const auto removed = connection ? ssh::remove_key(*connection, line, limit(), {})
                                    : Result<>(tl::unexpected(connection.error()));
    result_.set("key_removed", removed.has_value());
    if (removed) {
        context_->note("the key for '{}' was removed there and here", access_.address.text());
        return;
    }
    context_->note(
        "the key was not removed from '{}': {}", access_.address.text(), removed.error().message());
    context_->note("hint: the private key is deleted here, so the key is useless; its line in "
                   "~/.ssh/authorized_keys there ends with '{}'",
                   line.substr(line.find("ponk")));
}

void HostDetach::remove_files()
{
    const auto script = ssh::find_host_home(scratch_) + remove_files_script;
    auto connection = ssh::Connection::make(access_);
    const auto output =
        connection ? connection->run(
                         script, {join(own_runs(access_.home), "\n")}, after(removal_limit), {})
                   : Result<os::Output>(tl::unexpected(connection.error()));
    const bool done = output && output->exit.status() == 0;
    const auto removal = done ? read_removal(output->out) : Removal();
    result_.set("files_removed", done && removal.others.empty() && removal.stays.empty());
    if (!done) {
        auto why = output ? printable(trim(output->err)) : output.error().message();
        constexpr std::string_view own = "ponk-agent: ";
        if (why.starts_with(own)) why.erase(0, own.size());
        context_->note("files of ponk are left on '{}': {}", access_.address.text(), why);
        return;
    }
    for (const auto& thing : removal.stays)
        context_->note("left on '{}': {}", access_.address.text(), thing);
    if (!removal.stays.empty())
        context_->note("hint: ponk no longer manages them; 'docker rm -f CONTAINER' and 'docker "
                       "rmi IMAGE' there remove them");
    if (removal.others.empty()) return;
    const auto others = removal.others.size();
    context_->note("'{}' was kept on '{}': {} there {} not from this machine ('{}'{}); runs of "
                   "this machine were removed",
                   removal.folder,
                   access_.address.text(),
                   others == 1 ? "a run" : fmt::format("{} runs", others),
                   others == 1 ? "is" : "are",
                   removal.others[0],
                   others == 1 ? "" : ", …");
    context_->note("hint: another machine logs in as the same user, or these runs were deleted "
                   "from the history here; delete the folder there if nobody needs it");
}

}  // namespace ponk::cli
