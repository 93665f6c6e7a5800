// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/route.hpp"

// One function per call of docs/api/openapi.json.
namespace ponk::api {

// openapi.cpp
Result<net::Response> show_openapi(const Services& services, const Call& call);
// daemon.cpp
Result<net::Response> show_daemon(const Services& services, const Call& call);
Result<net::Response> stop_daemon(const Services& services, const Call& call);
Result<net::Response> pin_daemon(const Services& services, const Call& call);
Result<net::Response> show_doctor(const Services& services, const Call& call);
Result<net::Response> back_up(const Services& services, const Call& call);
Result<net::Response> collect_garbage(const Services& services, const Call& call);
// token_calls.cpp
Result<net::Response> create_token(const Services& services, const Call& call);
Result<net::Response> list_tokens(const Services& services, const Call& call);
Result<net::Response> delete_token(const Services& services, const Call& call);
// sessions.cpp
Result<net::Response> make_login_code(const Services& services, const Call& call);
Result<net::Response> log_in(const Services& services, const Call& call);
Result<net::Response> sign_address(const Services& services, const Call& call);
Result<net::Response> show_session(const Services& services, const Call& call);
Result<net::Response> end_own_session(const Services& services, const Call& call);
Result<net::Response> list_sessions(const Services& services, const Call& call);
Result<net::Response> end_session(const Services& services, const Call& call);
// live.cpp
Result<net::Response> begin_live(const Services& services, const Call& call);
// prompt.cpp
Result<net::Response> begin_prompt(const Services& services, const Call& call);
// front.cpp: at the root, not behind /api/v1
const std::vector<Route>& front_routes();
Result<net::Response> show_health(const Services& services, const Call& call);
Result<net::Response> show_mlflow_version(const Services& services, const Call& call);
Result<net::Response> show_page(const Services& services, const Call& call);
// submit.cpp
Result<net::Response> submit_run(const Services& services, const Call& call);
Result<net::Response> rerun_run(const Services& services, const Call& call);
// runs.cpp
Result<net::Response> list_runs(const Services& services, const Call& call);
Result<net::Response> show_run(const Services& services, const Call& call);
Result<net::Response> change_run(const Services& services, const Call& call);
Result<net::Response> delete_run(const Services& services, const Call& call);
Result<net::Response> cancel_run(const Services& services, const Call& call);
Result<net::Response> show_metrics(const Services& services, const Call& call);
// curves.cpp
Result<net::Response> show_curves(const Services& services, const Call& call);
// search.cpp
Result<net::Response> search_runs(const Services& services, const Call& call);
// follow.cpp
Result<net::Response> wait_for_run(const Services& services, const Call& call);
Result<net::Response> show_events(const Services& services, const Call& call);
// log.cpp
Result<net::Response> show_log(const Services& services, const Call& call);
Result<net::Response> find_log_tail(const Services& services, const Call& call);
Result<net::Response> check_log(const Services& services, const Call& call);
Result<net::Response> keep_log_damage(const Services& services, const Call& call);
// log_search.cpp
Result<net::Response> search_log(const Services& services, const Call& call);
// artifacts.cpp
Result<net::Response> list_artifacts(const Services& services, const Call& call);
Result<net::Response> download_artifact(const Services& services, const Call& call);
Result<net::Response> download_named_artifact(const Services& services, const Call& call);
Result<net::Response> show_snapshot(const Services& services, const Call& call);
Result<net::Response> show_snapshot_file(const Services& services, const Call& call);
Result<net::Response> restore_run(const Services& services, const Call& call);
Result<net::Response> return_run(const Services& services, const Call& call);
Result<net::Response> clean_run(const Services& services, const Call& call);
Result<net::Response> diagnose_run(const Services& services, const Call& call);
Result<net::Response> promote_artifact(const Services& services, const Call& call);
// environments.cpp
Result<net::Response> prepare_environment(const Services& services, const Call& call);
Result<net::Response> check_environment(const Services& services, const Call& call);
Result<net::Response> list_environments(const Services& services, const Call& call);
Result<net::Response> show_environment(const Services& services, const Call& call);
Result<net::Response> remove_environment(const Services& services, const Call& call);
Result<net::Response> show_lock(const Services& services, const Call& call);
// projects.cpp
Result<net::Response> restore_experiment(const Services& services, const Call& call);
Result<net::Response> list_projects(const Services& services, const Call& call);
Result<net::Response> look_up_project(const Services& services, const Call& call);
Result<net::Response> show_disk(const Services& services, const Call& call);
Result<net::Response> prune_disk(const Services& services, const Call& call);
Result<net::Response> relink_project(const Services& services, const Call& call);
Result<net::Response> delete_project(const Services& services, const Call& call);
Result<net::Response> list_assets(const Services& services, const Call& call);
Result<net::Response> export_history(const Services& services, const Call& call);
// project_setup.cpp
Result<net::Response> add_project(const Services& services, const Call& call);
Result<net::Response> list_samples(const Services& services, const Call& call);
Result<net::Response> list_project_targets(const Services& services, const Call& call);
// project_files.cpp
Result<net::Response> list_project_files(const Services& services, const Call& call);
Result<net::Response> show_project_file(const Services& services, const Call& call);
Result<net::Response> write_project_file(const Services& services, const Call& call);
Result<net::Response> check_project_text(const Services& services, const Call& call);
Result<net::Response> show_schema(const Services& services, const Call& call);
// imports.cpp
Result<net::Response> begin_import(const Services& services, const Call& call);
Result<net::Response> step_import(const Services& services, const Call& call);
Result<net::Response> end_import(const Services& services, const Call& call);
// targets.cpp
Result<net::Response> list_views(const Services& services, const Call& call);
Result<net::Response> put_view(const Services& services, const Call& call);
Result<net::Response> rename_view(const Services& services, const Call& call);
Result<net::Response> delete_view(const Services& services, const Call& call);
Result<net::Response> attach_target(const Services& services, const Call& call);
Result<net::Response> show_host_key(const Services& services, const Call& call);
Result<net::Response> check_target(const Services& services, const Call& call);
Result<net::Response> list_gpus(const Services& services, const Call& call);
// secrets.cpp
Result<net::Response> list_secrets(const Services& services, const Call& call);
Result<net::Response> put_secret(const Services& services, const Call& call);
Result<net::Response> delete_secret(const Services& services, const Call& call);

}  // namespace ponk::api
