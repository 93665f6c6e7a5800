// SPDX-License-Identifier: Apache-2.0
#include "api/native/own_command.hpp"

#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <future>

namespace ponk::api {

namespace {

constexpr std::chrono::milliseconds look_interval{100};

// Ours, but for what would lead the command to another project, server or home.
std::vector<std::string> environment_for(const os::Path& home)
{
    auto words = os::own_variables();
    std::erase_if(words, [](const std::string& word) { return word.starts_with("PONK_"); });
    for (auto& word : os::own_variables()) {
        const bool is_ours = word.starts_with("PONK_SAMPLES=");
        if (is_ours) words.push_back(std::move(word));
    }
    words.push_back("PONK_HOME=" + home.native());
    return words;
}

std::string last_line(std::string_view text)
{
    text = trim(text);
    return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

Result<Json> run_own_command(const Services& services,
                             std::vector<std::string> words,
                             std::chrono::seconds limit,
                             std::string input)
{
    os::Command command;
    command.program = os::own_program();
    command.argv = {"ponk", "-o", "json"};
    command.argv.insert(command.argv.end(),
                        std::make_move_iterator(words.begin()),
                        std::make_move_iterator(words.end()));
    command.env = environment_for(services.context().home);
    command.directory = "/";
    command.input = std::move(input);
    command.session = os::Command::Session::own;
    const auto done = TRY(run_while_wanted(command, limit));
    const auto answer = parse_json(done.out);
    if (done.exit.status() == 0 && answer) return *answer;
    const auto& error = answer ? (*answer)["error"] : Json();
    if (!error.is_object()) {
        return fail(ErrorKind::internal,
                    "the command ended with code {}: {}",
                    done.exit.status(),
                    printable(last_line(done.err)));
    }
    // What git or ssh said is above the last lines, which repeat the error.
    return tl::unexpected(
        Error(error_kind_from(error.text("kind")), error.text("message"), error.text("hint")));
}

Result<os::Output> run_while_wanted(const os::Command& command, std::chrono::seconds limit)
{
    std::stop_source stop;
    auto running = std::async(std::launch::async, [&command, limit, token = stop.get_token()] {
        return os::run(command, after(limit), token);
    });
    while (running.wait_for(look_interval) != std::future_status::ready) {
        if (auto wanted = check_work(); !wanted) {
            stop.request_stop();
            static_cast<void>(running.get());
            return tl::unexpected(wanted.error());
        }
    }
    return running.get();
}

}  // namespace ponk::api
