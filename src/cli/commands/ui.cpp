// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/client/own_umask.hpp"
#include "cli/client/server_address.hpp"
#include "cli/commands/commands.hpp"
#include "os/helper_environment.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

namespace ponk::cli {
namespace ui_command {

constexpr Option options[] = {
    {.name = "no-open", .help = "Print the address, and do not open a browser."},
    {.name = "prompt",
     .help = "Let this page open command prompts: shells with your rights, in projects' folders."},
};
constexpr Example examples[] = {
    {"ponk ui", "Open the page in the browser."},
    {"ponk ui --no-open", "Print an address that can be opened once, within a minute."},
    {"ponk ui --prompt", "Open the page, in which this login may also open a command prompt."},
    {"ssh -L 23457:127.0.0.1:23457 gpu1 ponk ui --no-open",
     "On another machine; the port is the one in the address."},
};

bool has_display(const std::vector<std::string>& variables)
{
    return !os::variable(variables, "DISPLAY").empty() ||
           !os::variable(variables, "WAYLAND_DISPLAY").empty();
}

// The browser gets a file of the user's own that leads to the address: a command line, which has
// the code in it, could be read by other users of the machine.
Result<> open_in_browser(const os::Path& home, const std::string& address)
{
    const auto file = home / "open.html";
    TRY(os::replace_file(file,
                         "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
                         "content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=" +
                             address + "\"><title>ponk</title>\n"));
    const auto ended = TRY(os::run({.argv = {"xdg-open", file.native()},
                                    .env = os::helper_environment(os::own_variables(), home),
                                    .session = os::Command::Session::own},
                                   after(std::chrono::seconds(10)),
                                   {}));
    if (ended.exit.status() == 0) return {};
    return fail(ErrorKind::unavailable, "'xdg-open' ended with {}", ended.exit.status());
}

enum class Prompts { no, yes };

// A prompt begins as a shell of this terminal would.
JsonObject code_body(Prompts prompts)
{
    if (prompts == Prompts::no) return {};
    auto words = os::own_variables();
    // A token for a server is no business of the daemon's.
    std::erase_if(words, is_server_variable);
    return {{"prompt", true},
            {"environment", JsonArray(words.begin(), words.end())},
            {"umask", own_umask()}};
}

Outcome run(Context& context, const Invocation& words)
{
    const auto prompts = words.has("prompt") ? Prompts::yes : Prompts::no;
    const Json code = TRY(TRY(context.daemon())->send("POST", "/ui/codes", code_body(prompts)));
    if (const auto missing = code.text("missing"); !missing.empty()) {
        return tl::unexpected(Failure(
            Error(ErrorKind::unavailable,
                  "this ponk was built without the page: " + missing,
                  "Install a package of ponk, or build it where Node.js 20 or newer is there.")));
    }
    auto address = code.text("address") + "#code=" + code.text("code");
    // The page shows the project of this folder first, if history knows it.
    if (const auto project = context.project_id(); project && !project->empty())
        address += "&project=" + *project;
    if (prompts == Prompts::yes) address += "&to=/prompt";
    bool opened = false;
    if (!words.has("no-open") && has_display(os::own_variables())) {
        const auto done = open_in_browser(TRY(context.home()), address);
        opened = done.has_value();
        if (!done) context.note("no browser was opened: {}", done.error().message());
    }
    if (context.asked_format() || context.has_query()) {
        return context.print(JsonObject{
            {"address", address}, {"seconds", code.integer("seconds")}, {"opened", opened}});
    }
    if (opened) {
        context.note("the page opens in your browser: {}", code.text("address"));
        return exit_code::success;
    }
    context.note("open this address within {} s; it works once", code.integer("seconds"));
    if (!os::variable(os::own_variables(), "SSH_CONNECTION").empty()) {
        const auto port = code.text("address");
        const auto colon = port.rfind(':');
        const auto number = port.substr(colon + 1, port.size() - colon - 2);
        context.note("from your own machine: 'ssh -L {0}:127.0.0.1:{0} HOST' first", number);
    }
    TRY(Context::print_text(address + "\n"));
    return exit_code::success;
}

}  // namespace ui_command

constinit const Command cmd_ui = {
    .path = "ui",
    .summary = "Open the Workbench page in the browser",
    .description =
        "The daemon serves the page on the loopback interface. The address holds a code for one "
        "login within a minute; the browser then has a session with your rights for 30 days, until "
        "its last tab is closed or 'ponk session remove'. The page shows the project of the "
        "current folder first. Without a display the address is printed. While the page is open, "
        "the daemon keeps running. With '--prompt' the page has a command prompt, with the "
        "variables of this shell, until the daemon ends.",
    .options = ui_command::options,
    .examples = ui_command::examples,
    .run = ui_command::run,
};

}  // namespace ponk::cli
