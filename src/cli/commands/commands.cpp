// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace {

constexpr std::string_view runconfiguration_aliases[] = {"runconfig"};
// As the private builds of early 2017 had them, and some documents wrote them.
constexpr std::string_view experiment_old_names[] = {"execute"};
constexpr std::string_view computetarget_old_names[] = {"computecontext"};
constexpr std::string_view runconfiguration_old_names[] = {"runconfigurations"};

// In the order in which help shows them.
constexpr Group all_groups[] = {
    {.name = "experiment",
     .old_names = experiment_old_names,
     .summary = "Run scripts and manage runs"},
    {.name = "history", .summary = "Inspect and compare runs, and get their files"},
    {.name = "asset", .summary = "Named and versioned files of runs"},
    {.name = "project", .summary = "Create, list and restore projects"},
    {.name = "project sample", .summary = "Samples that a project can start from"},
    {.name = "computetarget",
     .old_names = computetarget_old_names,
     .summary = "Machines and containers in which scripts run"},
    {.name = "runconfiguration",
     .aliases = runconfiguration_aliases,
     .old_names = runconfiguration_old_names,
     .summary = "Configurations that say how scripts run"},
    {.name = "environment", .summary = "Package environments built for runs"},
    {.name = "gpu", .summary = "GPUs of the targets and their users"},
    {.name = "secret", .summary = "Passwords and tokens for runs"},
    {.name = "tracking", .summary = "Settings for MLflow clients"},
    {.name = "token", .summary = "Access tokens for the tracking server"},
    {.name = "session", .summary = "Browsers in which the Workbench page is logged in"},
    {.name = "audit", .summary = "The audit log of the tracking server"},
    {.name = "daemon", .summary = "The background process of ponk"},
};

constexpr const Command* all_commands[] = {
    &cmd_experiment_submit,
    &cmd_experiment_prepare,
    &cmd_experiment_status,
    &cmd_experiment_logs,
    &cmd_experiment_cancel,
    &cmd_experiment_rerun,
    &cmd_experiment_return,
    &cmd_experiment_clean,
    &cmd_experiment_diagnostics,
    &cmd_history_list,
    &cmd_history_views,
    &cmd_history_last,
    &cmd_history_info,
    &cmd_history_compare,
    &cmd_history_chart,
    &cmd_history_download,
    &cmd_history_tag,
    &cmd_history_rename,
    &cmd_history_note,
    &cmd_history_promote,
    &cmd_history_restore,
    &cmd_history_export,
    &cmd_history_import,
    &cmd_history_backup,
    &cmd_history_delete,
    &cmd_asset_list,
    &cmd_asset_download,
    &cmd_project_create,
    &cmd_project_list,
    &cmd_project_show,
    &cmd_disk,
    &cmd_prune,
    &cmd_project_schema,
    &cmd_project_delete,
    &cmd_project_relink,
    &cmd_project_restore,
    &cmd_project_sample_list,
    &cmd_computetarget_attach,
    &cmd_computetarget_list,
    &cmd_computetarget_show,
    &cmd_computetarget_check,
    &cmd_computetarget_setup,
    &cmd_computetarget_detach,
    &cmd_runconfiguration_create,
    &cmd_runconfiguration_list,
    &cmd_runconfiguration_show,
    &cmd_runconfiguration_delete,
    &cmd_environment_list,
    &cmd_environment_show,
    &cmd_environment_remove,
    &cmd_gpu_list,
    &cmd_gpu_watch,
    &cmd_allow,
    &cmd_secret_set,
    &cmd_secret_list,
    &cmd_secret_remove,
    &cmd_tracking_env,
    &cmd_ui,
    &cmd_session_list,
    &cmd_session_remove,
    &cmd_serve,
    &cmd_token_create,
    &cmd_token_list,
    &cmd_token_remove,
    &cmd_audit_list,
    &cmd_audit_verify,
    &cmd_check,
    &cmd_doctor,
    &cmd_query,
    &cmd_daemon_run,
    &cmd_daemon_status,
    &cmd_daemon_stop,
    &cmd_completion,
    &cmd_man,
    &cmd_help,
    &cmd_version,
    &cmd_complete,
};

constexpr std::string_view all_later_commands[] = {
    "sweep", "notebook", "computetarget start", "computetarget stop"};

constexpr std::string_view formats[] = {"table", "json", "jsonc", "tsv", "yaml"};
constexpr Option all_global_options[] = {
    {.name = "output",
     .brief = "o",
     .value = "FORMAT",
     .help = "table, json, jsonc, tsv or yaml. Default: table on a terminal, json in a pipe.",
     .complete = Complete::choice,
     .choices = formats},
    {.name = "query",
     .value = "JMESPATH",
     .help = "Select a part of the result with a JMESPath expression."},
    {.name = "project",
     .brief = "p",
     .value = "PATH",
     .help = "The project's folder. Default: the current folder. Of a server: the project's name, "
             "id or folder there. Default there: all projects.",
     .complete = Complete::folder},
    {.name = "server",
     .value = "URL",
     .help = "Ask this team server instead of this machine; 'here' is this machine. Default: "
             "PONK_SERVER, else here."},
    {.name = "no-pager", .help = "Do not show long output in a pager (PONK_PAGER, PAGER, less)."},
    {.name = "verbose", .help = "Print more details to standard error."},
    {.name = "debug",
     .help = "Print even more: each request to the daemon with its status and duration."},
    {.name = "help", .brief = "h", .help = "Show the command's help."},
};

}  // namespace

std::span<const Group> groups()
{
    return all_groups;
}

Words later_commands()
{
    return all_later_commands;
}

std::span<const Command* const> commands()
{
    return all_commands;
}

std::span<const Option> global_options()
{
    return all_global_options;
}

}  // namespace ponk::cli
