// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/event_printer.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Text of several lines, the later ones marked as ours and set in.
std::string lines_of(const std::string& text)
{
    std::string shown;
    for (const std::string& line : split(text, '\n')) {
        if (!shown.empty()) shown += "\nponk:     ";
        shown += printable(trim(line));
    }
    return shown;
}

}  // namespace

EventPrinter::EventPrinter(const Context& context, Daemon daemon, std::string run)
    : context_(context), daemon_(std::move(daemon)), run_(std::move(run)), progress_(STDERR_FILENO),
      thread_([this](const std::stop_token& stop) { work(stop); })
{
}

void EventPrinter::finish()
{
    os::wait_readable(done_.fd(), after(milliseconds(500)), {});
    stop();
}

void EventPrinter::catch_up()
{
    stop();
    print_events("", {});
    progress_.clear();
}

void EventPrinter::stop()
{
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    progress_.clear();
}

void EventPrinter::work(const std::stop_token& stop)
{
    for (int left = 50; left > 0 && !stop.stop_requested(); --left) {
        if (print_events("&follow=1", stop)) break;
        os::sleep_for(milliseconds(200), stop);
        auto found = Daemon::find(daemon_.home());
        if (!found || !*found) continue;
        (*found)->set_trace(daemon_.trace());
        daemon_ = std::move(**found);
    }
    done_.ring();
}

bool EventPrinter::print_events(std::string_view follow, const std::stop_token& stop)
{
    partial_.clear();
    const auto sink = [this](std::string_view bytes) {
        partial_ += bytes;
        std::size_t start = 0;
        for (std::size_t end = 0; (end = partial_.find('\n', start)) != partial_.npos;
             start = end + 1) {
            line(std::string_view(partial_).substr(start, end - start));
        }
        partial_.erase(0, start);
        return true;
    };
    return daemon_
        .stream(fmt::format("/runs/{}/events?after={}{}", run_, last_, follow),
                sink,
                follow.empty() ? answer_limit : seconds(3600),
                stop)
        .has_value();
}

void EventPrinter::line(std::string_view text)
{
    const auto event = parse_json(text);
    if (!event) return;
    last_ = std::max(last_, event->integer("seq"));
    const std::string kind = event->text("kind");
    if (kind == "progress") {
        progress_.show(event->text("text"));
        return;
    }
    if (kind != "notice" && kind != "state") return;
    progress_.clear();
    const std::string said = lines_of(event->text("text"));
    if (kind == "notice") context_.note("{}", said);
    if (kind == "state") context_.detail("{}", said);
}

}  // namespace ponk::cli
