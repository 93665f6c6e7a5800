// SPDX-License-Identifier: Apache-2.0
#include "api/http/prompts.hpp"

#include "base/time.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace ponk::api {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 10ms;
// What hangs in the kernel does not end by a signal either: looked at more seldom, and the daemon's
// end does not wait for it.
constexpr auto longest_end = 3s;
constexpr auto between_late_looks = 500ms;

}  // namespace

Result<std::shared_ptr<PromptShell>> PromptShell::start(Start start)
{
    auto terminal = TRY(os::make_terminal(start.size));
    auto& command = start.command;
    command.session = os::Command::Session::terminal;
    const int theirs = terminal.theirs.get();
    command.descriptors = {{theirs, 0}, {theirs, 1}, {theirs, 2}};
    auto child = TRY(os::spawn(command));
    // Nobody could hear of its end.
    if (!child.pidfd) {
        static_cast<void>(os::wait_for_exit(child, after(0ms), {}));
        return fail(ErrorKind::unavailable, "the shell cannot be watched: too many open files");
    }
    std::shared_ptr<PromptShell> shell(new PromptShell(std::move(start)));
    shell->start_.command = {};
    shell->terminal_ = std::move(terminal.ours);
    shell->child_ = std::move(child);
    try {
        shell->thread_ =
            std::jthread([raw = shell.get()](const std::stop_token& stop) { raw->watch(stop); });
    } catch (const std::system_error& problem) {
        static_cast<void>(os::wait_for_exit(shell->child_, after(0ms), {}));
        return fail(ErrorKind::unavailable, "no thread for the shell: {}", problem.what());
    }
    return shell;
}

PromptShell::~PromptShell()
{
    close();
}

void PromptShell::close()
{
    state_.lock()->closing = true;
    bell_.ring();
}

void PromptShell::leave()
{
    const bool is_over = [this] {
        const auto state = state_.lock();
        state->closing = true;
        state->left = true;
        return state->exit.has_value();
    }();
    bell_.ring();
    if (is_over) terminal_.reset();
}

void PromptShell::await(os::Awaited more)
{
    {
        const auto state = state_.lock();
        state->awaited.shows |= more.shows;
        state->awaited.takes |= more.takes;
    }
    bell_.ring();
}

void PromptShell::read(std::string& out, std::size_t limit)
{
    const auto before = out.size();
    const bool open = os::read_shown(terminal_, out, limit);
    if (open && out.size() - before < limit) await({.shows = true});
}

void PromptShell::type(std::string& bytes)
{
    std::string_view rest = bytes;
    os::type(terminal_, rest);
    bytes.erase(0, bytes.size() - rest.size());
    if (!bytes.empty()) await({.takes = true});
}

void PromptShell::watch(const std::stop_token& stop)
{
    const std::array others{bell_.fd(), child_.pidfd.get()};
    auto look_at = Deadline::clock::now() + start_.interval;
    for (;;) {
        const auto awaited = [this] {
            const auto state = state_.lock();
            return state->closing ? std::nullopt : std::optional(state->awaited);
        }();
        if (!awaited || os::find_exit(child_.pidfd.get())) break;
        const auto ready = os::wait_for(terminal_, *awaited, others, start_.interval);
        bell_.silence();
        if (ready.shows || ready.takes) {
            {
                const auto state = state_.lock();
                state->awaited.shows &= !ready.shows;
                state->awaited.takes &= !ready.takes;
            }
            start_.ring();
        }
        if (Deadline::clock::now() < look_at) continue;
        if (!start_.may_go_on()) break;
        // What the shell has lost is ours.
        os::reap_session(child_.pid);
        look_at = Deadline::clock::now() + start_.interval;
    }
    const auto exit = end_session(stop);
    if (start_.ended) start_.ended(exit);
    // Whoever hears of the end finds nothing held any more.
    start_.ended = {};
    start_.may_go_on = {};
    start_.kept.clear();
    const bool left = [this, &exit] {
        const auto state = state_.lock();
        state->exit = exit;
        return state->left;
    }();
    if (left) terminal_.reset();
    start_.ring();
}

// The number of the session stays its own until the shell is reaped.
os::Exit PromptShell::end_session(const std::stop_token& stop)
{
    // Who could not be looked at may live.
    const auto is_over = [this](int number) {
        const auto living = os::signal_session(child_.pid, number);
        return living && *living == 0 && os::find_exit(child_.pidfd.get());
    };
    const auto is_over_until = [&is_over](Deadline deadline, int number) {
        while (!is_over(number)) {
            if (Deadline::clock::now() >= deadline) return false;
            os::sleep_for(between_looks, {});
        }
        return true;
    };
    static_cast<void>(os::signal_session(child_.pid, SIGHUP));
    bool over = is_over_until(after(start_.grace), 0) || is_over_until(after(longest_end), SIGKILL);
    while (!over && os::sleep_for(between_late_looks, stop))
        over = is_over(SIGKILL);
    const auto exit = os::find_exit(child_.pidfd.get()).value_or(os::Exit{0, SIGKILL});
    os::reap_session(child_.pid);
    os::reap(child_.pidfd.get());
    return exit;
}

void Prompts::forget_rights(const std::function<bool(const std::string&)>& lives)
{
    std::vector<std::string> known;
    {
        const auto rights = rights_.lock();
        for (const auto& entry : *rights)
            known.push_back(entry.first);
    }
    std::erase_if(known, lives);
    const auto rights = rights_.lock();
    for (const auto& gone : known)
        rights->erase(gone);
}

void Prompts::allow(const std::string& session,
                    std::shared_ptr<const PromptRight> right,
                    const std::function<bool(const std::string&)>& lives)
{
    forget_rights(lives);
    rights_.lock()->insert_or_assign(session, std::move(right));
}

void Prompts::tidy(const std::function<bool(const std::string&)>& lives)
{
    forget_ended();
    forget_rights(lives);
    std::set<pid_t> shells;
    {
        const auto now = open_.lock();
        for (const auto& shell : now->shells)
            shells.insert(shell->pid());
    }
    // Who has no prompt does not pay for them.
    if (!shells.empty() || living_strays_ > 0) living_strays_ = strays_.look(shells);
}

std::shared_ptr<const PromptRight> Prompts::right_of(const std::string& session) const
{
    const auto rights = rights_.lock();
    const auto found = rights->find(session);
    return found == rights->end() ? nullptr : found->second;
}

void Prompts::forbid(const std::string& session)
{
    rights_.lock()->erase(session);
}

Prompts::Place::~Place()
{
    if (counts_) --of_.open_.lock()->starting;
}

void Prompts::forget_ended()
{
    std::vector<std::shared_ptr<PromptShell>> over;  // their threads are joined without the lock
    const auto now = open_.lock();
    auto& shells = now->shells;
    const auto first_over = std::stable_partition(
        shells.begin(), shells.end(), [](const auto& shell) { return !shell->exit(); });
    std::move(first_over, shells.end(), std::back_inserter(over));
    shells.erase(first_over, shells.end());
}

Result<std::unique_ptr<Prompts::Place>> Prompts::reserve()
{
    forget_ended();
    const auto now = open_.lock();
    if (now->closed) return fail(ErrorKind::unavailable, "the daemon ends");
    if (now->shells.size() + now->starting >= options.most)
        return fail(ErrorKind::conflict, "{} command prompts are open already", options.most);
    ++now->starting;
    return std::make_unique<Place>(*this);
}

Result<std::shared_ptr<PromptShell>> Prompts::open(std::unique_ptr<Place> place,
                                                   PromptShell::Start start)
{
    start.interval = options.session_interval;
    start.grace = options.grace;
    auto shell = TRY(PromptShell::start(std::move(start)));
    const auto now = open_.lock();
    --now->starting;
    place->counts_ = false;
    if (now->closed) shell->close();
    now->shells.push_back(shell);
    return shell;
}

Result<std::shared_ptr<const os::Path>>
Prompts::keep_tools(const os::Path& all,
                    const std::string& name,
                    const std::function<Result<>(const os::Path&)>& put)
{
    const std::lock_guard lock(changing_tools_);
    std::erase_if(tools_, [](const auto& entry) { return entry.second.expired(); });
    if (const auto entries = os::list_directory(all)) {
        for (const auto& entry : *entries) {
            // What cannot be removed now is looked at again the next time.
            if (entry.name != name && !tools_.contains(entry.name))
                static_cast<void>(os::remove_tree(all / entry.name));
        }
    }
    auto& known = tools_[name];
    auto folder = known.lock();
    if (!folder) folder = std::make_shared<const os::Path>(all / name);
    TRY(put(*folder));
    known = folder;
    return folder;
}

void Prompts::end_all()
{
    std::vector<std::shared_ptr<PromptShell>> shells;
    {
        const auto now = open_.lock();
        now->closed = true;
        shells.swap(now->shells);
    }
    for (const auto& shell : shells)
        shell->close();
    const auto all_over = [&shells] {
        return std::all_of(
            shells.begin(), shells.end(), [](const auto& shell) { return shell->exit(); });
    };
    const auto deadline = after(options.grace + longest_end);
    while (!all_over() && Deadline::clock::now() < deadline)
        os::sleep_for(between_looks, {});
}

}  // namespace ponk::api
