// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/exit_code.hpp"

#include <span>
#include <string_view>

// The shape of the one table from which parsing, help, man pages and completions are made. All of
// it is constant data, so a start costs nothing for the commands that are not called.
namespace ponk::cli {

class Context;
class Invocation;

// What is allowed at a place, for completion.
enum class Complete {
    nothing,
    file,
    folder,
    run,
    configuration,
    target,
    project,
    secret,
    environment,
    sample,
    page,
    choice
};

using Words = std::span<const std::string_view>;

struct Option {
    std::string_view name;        // "run-configuration"
    std::string_view brief = {};  // "c", or "ap": one dash
    std::string_view value = {};  // "NAME"; empty: a flag
    std::string_view help = {};
    enum class Times { once, many } times = Times::once;
    Complete complete = Complete::nothing;
    Words choices = {};
    enum class Shown { yes, no } shown = Shown::yes;  // accepted for old scripts, not advertised
    // `arguments`: all that follows belongs to what it names, as with 'python -m'.
    enum class Then { options, arguments } then = Then::options;
};

struct Positional {
    std::string_view name;
    std::string_view help;
    enum class Count { one, optional, many } count = Count::one;
    Complete complete = Complete::nothing;
    Words choices = {};
};

struct Example {
    std::string_view line;
    std::string_view says;
};

struct Command {
    std::string_view path;     // "experiment submit"
    Words aliases = {};        // other full paths: "submit"
    Words old_paths = {};      // accepted for old scripts, not advertised
    std::string_view summary;  // one line, no full stop
    std::string_view description = {};
    std::span<const Option> options = {};
    std::span<const Positional> positionals = {};
    // `untouched`: after the first positional every word belongs to the script, whatever it
    // looks like.
    enum class Rest { none, untouched } rest = Rest::none;
    std::span<const Example> examples = {};
    enum class Paged { no, yes } paged = Paged::no;  // long output, without --follow
    // Which history the command works with. While PONK_SERVER is set, `none` runs as usual,
    // `this_machine` is an error, and `any` asks the server.
    enum class History { none, this_machine, any } history = History::this_machine;
    std::string_view exits = {};  // what its exit code means, where there is more to say
    enum class Shown { yes, no } shown = Shown::yes;
    Outcome (*run)(Context& context, const Invocation& words) = nullptr;
};

struct Group {
    std::string_view name;  // "experiment"; "project sample"
    Words aliases = {};
    Words old_names = {};  // accepted, not advertised
    std::string_view summary;
};

std::span<const Group> groups();
// Groups and commands that the documents name and this version has not: "sweep", "computetarget
// start".
Words later_commands();
std::span<const Command* const> commands();
// Accepted by every command.
std::span<const Option> global_options();

}  // namespace ponk::cli
