// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/client/context.hpp"
#include "cli/client/daemon_start.hpp"
#include "cli/commands/commands.hpp"
#include "config/consents/consents.hpp"
#include "config/files/docker_arguments.hpp"

#include <algorithm>

namespace ponk::cli {
namespace allow_command {

using config::Consent;
using config::ConsentKind;

constexpr std::string_view kinds[] = {"secret", "docker-argument", "folder"};
constexpr Option options[] = {
    {.name = "any-project", .help = "For every project, not only the one of this folder."},
    {.name = "remove", .help = "Revoke a permission."},
    {.name = "all-projects", .help = "List the permissions of all projects."},
};
constexpr Positional positionals[] = {
    {.name = "KIND",
     .help = "secret, docker-argument or folder. If omitted, the permissions are listed.",
     .count = Positional::Count::optional,
     .complete = Complete::choice,
     .choices = kinds},
};
constexpr Example examples[] = {
    {"ponk allow secret kaggle", "Allow runs of this project to use the secret 'kaggle'."},
    {"ponk allow docker-argument --volume=/data:/data:ro",
     "Allow containers of this project to mount /data."},
    {"ponk allow --remove secret kaggle", "Revoke a permission."},
    {"ponk allow", "List the permissions of this project."},
};

Outcome list(Context& context, const config::Consents& consents, const Invocation& words)
{
    const auto project = config::project_name_in_consents(TRY(context.project()));
    JsonArray rows;
    for (const auto& consent : TRY(consents.list())) {
        const bool ours = consent.project == project || consent.project == Consent::every_project;
        if (!ours && !words.has("all-projects")) continue;
        rows.push_back(JsonObject{{"kind", to_string(consent.kind)},
                                  {"what", consent.what},
                                  {"project", consent.project},
                                  {"since", utc_text(consent.time)}});
    }
    if (rows.empty() && context.format() == output::Format::table)
        context.note("nothing is allowed yet");
    return context.print(Json(std::move(rows)));
}

// As requests name them: docker's words in their long form.
Result<std::vector<std::string>> things_of(ConsentKind kind, const std::vector<std::string>& words)
{
    if (kind != ConsentKind::docker_argument) {
        const auto option =
            std::ranges::find_if(words, [](const auto& word) { return word.starts_with('-'); });
        if (option == words.end()) return words;
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("'{}' is not a {}", printable(*option), to_string(kind)),
                  "Options of ponk come before KIND."));
    }
    std::vector<std::string> things;
    for (const auto& argument : TRY(config::parse_docker_arguments(words))) {
        if (!argument.option.starts_with("--") || !config::reaches_host(argument)) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("docker argument '{}' needs no consent, or is not known",
                                  printable(argument.text())),
                      "Name those that the error names; options of ponk come before KIND."));
        }
        things.push_back(argument.text());
    }
    return things;
}

Failure nothing_named(ConsentKind kind)
{
    const auto failure = [](const char* what, const char* hint) {
        return Failure(Error(ErrorKind::invalid_argument, what, hint), exit_code::usage);
    };
    switch (kind) {
    case ConsentKind::secret:
        return failure("'ponk allow secret' needs the name of a secret",
                       "For example: 'ponk allow secret kaggle'. 'ponk secret list' lists the "
                       "names.");
    case ConsentKind::docker_argument:
        return failure("'ponk allow docker-argument' needs an argument of docker",
                       "For example: 'ponk allow docker-argument --volume=/data:/data:ro'.");
    case ConsentKind::folder:
        break;
    }
    return failure("'ponk allow folder' needs the path of a folder",
                   "For example: 'ponk allow folder /data/shared'.");
}

// A name with a typo would be noticed only when a run is refused.
void note_unknown_secrets(Context& context, const std::vector<std::string>& names)
{
    const auto daemon = context.daemon();
    const auto answer = daemon ? (*daemon)->get("/secrets") : Result<Json>(Json());
    if (!answer || !(*answer)["secrets"].is_array()) return;
    std::vector<std::string> known;
    for (const auto& secret : (*answer)["secrets"].as_array())
        known.push_back(secret.text("name"));
    for (const auto& name : names) {
        if (std::ranges::find(known, name) != known.end()) continue;
        const auto near = nearest(name, known);
        context.note("warning: there is no secret '{}' yet{}; 'ponk secret set {}' stores it",
                     name,
                     near ? fmt::format(" (did you mean '{}'?)", *near) : "",
                     name);
    }
}

Outcome run(Context& context, const Invocation& words)
{
    const auto home = TRY(context.home());
    config::Consents consents(home);
    const auto word = words.word(0);
    if (!word) return list(context, consents, words);
    const auto kind = config::consent_kind_from(*word);
    if (!kind)
        return fail_usage(
            "'{}' is none of {}", printable(*word), "secret, docker-argument, folder");
    const std::vector<std::string> rest(words.rest().begin(), words.rest().end());
    const auto things = TRY(as_usage(things_of(*kind, rest)));
    if (things.empty()) return tl::unexpected(nothing_named(*kind));
    const std::string project = words.has("any-project")
                                    ? Consent::every_project
                                    : config::project_name_in_consents(TRY(context.project()));
    TRY(make_home(home));
    JsonArray done;
    std::vector<std::string> texts;
    for (const auto& thing : things) {
        const Consent consent{*kind, project, thing};
        TRY(words.has("remove") ? consents.remove(consent) : consents.add(consent));
        texts.push_back(config::Request{*kind, thing, {}}.text());
        done.emplace_back(thing);
    }
    if (*kind == ConsentKind::secret && !words.has("remove")) note_unknown_secrets(context, things);
    return context.done(fmt::format("{} {}: {}",
                                    words.has("any-project") ? "every project"
                                                             : "project " + os::in_quotes(project),
                                    words.has("remove") ? "may no longer use" : "may use",
                                    join(texts, ", ")),
                        {{"kind", *word}, {"what", std::move(done)}, {"project", project}});
}

}  // namespace allow_command

constinit const Command cmd_allow = {
    .path = "allow",
    .summary = "Allow a project to use secrets, Docker arguments or folders",
    .description =
        "Files of a project may come from anybody, so some things that they ask for are asked "
        "about "
        "once on a terminal, and refused elsewhere: the value of a stored secret, arguments of "
        "docker that reach the host (a folder of it, a device, a right, its network), and a shared "
        "folder in the place of the usual one. This allows them ahead of time, for the project of "
        "this folder, from now on. A machine is allowed with 'ponk attach --from FILE'.\n"
        "Options of ponk come before KIND; the words after it are what is allowed.",
    .options = allow_command::options,
    .positionals = allow_command::positionals,
    .rest = Command::Rest::untouched,
    .examples = allow_command::examples,
    .run = allow_command::run,
};

}  // namespace ponk::cli
