// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/command.hpp"

// One value for each NOUN/VERB.cpp below this folder; commands.cpp lists them.
namespace ponk::cli {

extern const Command cmd_experiment_submit;
extern const Command cmd_experiment_prepare;
extern const Command cmd_experiment_status;
extern const Command cmd_experiment_logs;
extern const Command cmd_experiment_cancel;
extern const Command cmd_experiment_rerun;
extern const Command cmd_experiment_return;
extern const Command cmd_experiment_clean;
extern const Command cmd_experiment_diagnostics;
extern const Command cmd_history_list;
extern const Command cmd_history_last;
extern const Command cmd_history_info;
extern const Command cmd_history_compare;
extern const Command cmd_history_chart;
extern const Command cmd_history_download;
extern const Command cmd_history_promote;
extern const Command cmd_history_restore;
extern const Command cmd_history_backup;
extern const Command cmd_history_export;
extern const Command cmd_history_import;
extern const Command cmd_history_delete;
extern const Command cmd_history_tag;
extern const Command cmd_history_rename;
extern const Command cmd_history_note;
extern const Command cmd_history_views;
extern const Command cmd_asset_list;
extern const Command cmd_asset_download;
extern const Command cmd_project_create;
extern const Command cmd_project_list;
extern const Command cmd_project_show;
extern const Command cmd_project_schema;
extern const Command cmd_project_delete;
extern const Command cmd_project_relink;
extern const Command cmd_disk;
extern const Command cmd_prune;
extern const Command cmd_project_restore;
extern const Command cmd_project_sample_list;
extern const Command cmd_computetarget_attach;
extern const Command cmd_computetarget_list;
extern const Command cmd_computetarget_show;
extern const Command cmd_computetarget_check;
extern const Command cmd_computetarget_setup;
extern const Command cmd_computetarget_detach;
extern const Command cmd_runconfiguration_create;
extern const Command cmd_runconfiguration_list;
extern const Command cmd_runconfiguration_show;
extern const Command cmd_runconfiguration_delete;
extern const Command cmd_environment_list;
extern const Command cmd_environment_show;
extern const Command cmd_environment_remove;
extern const Command cmd_gpu_list;
extern const Command cmd_gpu_watch;
extern const Command cmd_allow;
extern const Command cmd_secret_set;
extern const Command cmd_secret_list;
extern const Command cmd_secret_remove;
extern const Command cmd_tracking_env;
extern const Command cmd_serve;
extern const Command cmd_ui;
extern const Command cmd_session_list;
extern const Command cmd_session_remove;
extern const Command cmd_token_create;
extern const Command cmd_token_list;
extern const Command cmd_token_remove;
extern const Command cmd_audit_list;
extern const Command cmd_audit_verify;
extern const Command cmd_check;
extern const Command cmd_doctor;
extern const Command cmd_query;
extern const Command cmd_daemon_run;
extern const Command cmd_daemon_status;
extern const Command cmd_daemon_stop;
extern const Command cmd_completion;
extern const Command cmd_man;
extern const Command cmd_help;
extern const Command cmd_version;
extern const Command cmd_complete;

}  // namespace ponk::cli
