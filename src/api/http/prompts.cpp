// SPDX-License-Identifier: Apache-2.0
#include "api/http/prompts.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <utility>

namespace ponk::api {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 10ms;
// What hangs in the kernel does not end by a signal either; the daemon does not wait for it.
constexpr auto longest_end = 3s;

}  // namespace

Result<std::shared_ptr<PromptShell>> PromptShell::start(Start start)
{
    auto terminal = TRY(os::make_terminal(start.size));
    auto& command = start.command;
    command.session = os::Command::Session::terminal;
    const int theirs = terminal.theirs.get();
    command.descriptors = {{theirs, 0}, {theirs, 1}, {theirs, 2}};
    auto child = TRY(os::spawn(command));
    std::shared_ptr<PromptShell> shell(new PromptShell(std::move(start)));
    shell->terminal_ = std::move(terminal.ours);
    shell->child_ = std::move(child);
    shell->thread_ = std::jthread([raw = shell.get()] { raw->watch(); });
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

void PromptShell::watch()
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
    end_session();
}

// The number of the session stays its own until the shell is reaped.
void PromptShell::end_session()
{
    const auto wait_until = [this](Deadline deadline, int number) {
        while (os::signal_session(child_.pid, number) > 0 && Deadline::clock::now() < deadline)
            os::sleep_for(between_looks, {});
    };
    os::signal_session(child_.pid, SIGHUP);
    wait_until(after(start_.grace), 0);
    wait_until(after(longest_end), SIGKILL);
    const auto exit = os::find_exit(child_.pidfd.get()).value_or(os::Exit{0, SIGKILL});
    os::reap_session(child_.pid);
    os::reap(child_.pidfd.get());
    if (start_.ended) start_.ended(exit);
    state_.lock()->exit = exit;
    start_.ring();
}

void Prompts::allow(const std::string& session,
                    std::shared_ptr<const PromptRight> right,
                    const std::function<bool(const std::string&)>& lives)
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
    rights->insert_or_assign(session, std::move(right));
}

std::shared_ptr<const PromptRight> Prompts::right_of(const std::string& session) const
{
    const auto rights = rights_.lock();
    const auto found = rights->find(session);
    return found == rights->end() ? nullptr : found->second;
}

Result<std::shared_ptr<PromptShell>> Prompts::open(PromptShell::Start start)
{
    std::vector<std::shared_ptr<PromptShell>> over;  // their threads are joined without the lock
    {
        const auto now = open_.lock();
        auto& shells = now->shells;
        const auto first_over = std::stable_partition(
            shells.begin(), shells.end(), [](const auto& shell) { return !shell->exit(); });
        std::move(first_over, shells.end(), std::back_inserter(over));
        shells.erase(first_over, shells.end());
        if (now->closed) return fail(ErrorKind::unavailable, "the daemon ends");
        if (shells.size() + now->starting >= options.most)
            return fail(ErrorKind::conflict, "{} command prompts are open already", options.most);
        ++now->starting;
    }
    start.interval = options.session_interval;
    start.grace = options.grace;
    auto shell = PromptShell::start(std::move(start));
    const auto now = open_.lock();
    --now->starting;
    if (!shell) return shell;
    if (now->closed) (*shell)->close();
    now->shells.push_back(*shell);
    return shell;
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
