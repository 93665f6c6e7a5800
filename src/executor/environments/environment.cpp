// SPDX-License-Identifier: Apache-2.0
#include "executor/environments/environment.hpp"

#include "base/text.hpp"
#include "executor/job/device_variables.hpp"
#include "executor/run_directory/relay_file.hpp"

#include <algorithm>
#include <array>

namespace ponk::executor {

namespace {

auto named(const std::string& name)
{
    return [prefix = name + "="](const std::string& word) { return word.starts_with(prefix); };
}

// A word with a NUL inside cannot reach a process; the part before it can.
std::string until_nul(const std::string& word)
{
    return word.substr(0, word.find('\0'));
}

// A proxy of the user's network cannot lead to the run's own loopback.
void spare_loopback(Environment& out)
{
    constexpr std::array proxies{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
    if (std::ranges::all_of(proxies, [&out](const char* name) { return out.get(name).empty(); }))
        return;
    auto direct = out.get("no_proxy");
    if (direct.empty()) direct = out.get("NO_PROXY");
    const auto known = split(direct, ',');
    if (std::ranges::find(known, "127.0.0.1") == known.end())
        direct += direct.empty() ? "127.0.0.1" : ",127.0.0.1";
    out.set("no_proxy", direct);
    out.set("NO_PROXY", direct);
}

// The address comes from the supervisor, which opens it.
void add_mlflow(const Job& job, Environment& out)
{
    // A name beside the id is for who asks for it: MLflow's client fails where the two differ, as
    // they do for processes of a script that has gone on to another experiment.
    constexpr std::string_view experiment = "MLFLOW_EXPERIMENT_NAME";
    const bool is_wanted = std::any_of(job.spec.program.variables.begin(),
                                       job.spec.program.variables.end(),
                                       [&](const auto& each) { return each.first == experiment; });
    if (!is_wanted) out.unset(std::string(experiment));
    // Of another server, from the user's shell.
    for (const char* name : {"MLFLOW_TRACKING_USERNAME",
                             "MLFLOW_TRACKING_PASSWORD",
                             "MLFLOW_TRACKING_AUTH",
                             "MLFLOW_TRACKING_AWS_SIGV4",
                             "MLFLOW_TRACKING_SERVER_CERT_PATH",
                             "MLFLOW_TRACKING_INSECURE_TLS",
                             "MLFLOW_WORKSPACE"})
        out.unset(name);
    out.set("MLFLOW_RUN_ID", job.spec.id.text());
    out.set("MLFLOW_EXPERIMENT_ID", job.context.tracking.experiment);
    out.set("MLFLOW_TRACKING_TOKEN", job.context.token);
    // The address is of use inside the run only.
    if (out.get("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT").empty())
        out.set("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true");
    spare_loopback(out);
}

}  // namespace

Environment::Environment(const std::vector<std::string>& words)
{
    for (const auto& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0) continue;
        set(word.substr(0, equals), word.substr(equals + 1));
    }
}

void Environment::set(const std::string& name, const std::string& value)
{
    auto word = until_nul(name + "=" + value);
    const auto found = std::find_if(words_.begin(), words_.end(), named(name));
    if (found != words_.end()) {
        *found = std::move(word);
    } else {
        words_.push_back(std::move(word));
    }
}

void Environment::unset(const std::string& name)
{
    std::erase_if(words_, named(name));
}

std::string Environment::get(const std::string& name) const
{
    const auto found = std::find_if(words_.begin(), words_.end(), named(name));
    return found == words_.end() ? std::string() : found->substr(name.size() + 1);
}

std::string Environment::bytes() const
{
    std::string out;
    for (const auto& word : words_) {
        out += word;
        out += '\0';
    }
    return out;
}

Environment
compose_environment(const Job& job, const std::vector<std::string>& ground, const RunPlaces& places)
{
    Environment out(ground);
    out.set("PYTHONUNBUFFERED", "1");
    for (const auto& [name, value] : variables_of(job))
        out.set(name, value);
    auto folders = places.python_modules;
    if (const auto& names = job.spec.program.given_names; !names.empty()) {
        // A folder with the one file that Python loads before the script.
        folders = places.python_modules + "/ponk/_names:" + folders;
        out.set("PONK_GIVEN_NAMES", join(names, " "));
        out.set("PONK_SCRIPT", places.tree + "/" + job.spec.program.script);
    }
    if (const auto& own = job.spec.environment.import_folder; !own.empty())
        folders += ":" + places.tree + (own == "." ? "" : "/" + own);
    const auto theirs = out.get("PYTHONPATH");
    out.set("PYTHONPATH", folders + (theirs.empty() ? "" : ":" + theirs));
    if (!places.shared.empty()) {
        // Scripts append a file name without a slash of their own.
        const auto& folder = places.shared;
        out.set("AZUREML_NATIVE_SHARE_DIRECTORY", folder.ends_with('/') ? folder : folder + "/");
    }
    if (job.spec.resources.gpu.hides_all()) {
        for (const auto& [name, value] : hiding_variables())
            out.set(name, value);
    }
    if (has_relay(job)) add_mlflow(job, out);
    out.set("AZUREML_RUN_ID", job.spec.id.text());
    out.set("PONK_RUN_ID", job.spec.id.text());
    out.set("PONK_RUN_TOKEN", job.context.token);
    out.set("PONK_RUN_DIRECTORY", places.control);
    out.set("PONK_OUTPUTS_DIRECTORY", places.tree + "/outputs");
    const auto& folder = job.spec.program.folder;
    out.set("PWD", places.tree + (folder.empty() ? "" : "/" + folder));
    out.unset("OLDPWD");
    return out;
}

}  // namespace ponk::executor
