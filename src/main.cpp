// SPDX-License-Identifier: Apache-2.0
#include "cli/main.hpp"

#include "cli/syntax/exit_code.hpp"
#include "daemon/daemon.hpp"
#include "gpu_monitor/role.hpp"

#include <cstdio>
#include <exception>

extern "C" const char ponk_samples[];
extern "C" const char ponk_samples_end[];
extern "C" const char ponk_report[];
extern "C" const char ponk_report_end[];
extern "C" const char ponk_agent_program[];
extern "C" const char ponk_agent_program_end[];

namespace {

ponk::daemon::ServeOptions serve_options(const ponk::cli::ServedAddress& wanted)
{
    using Plain = ponk::daemon::ServeOptions::Plain;
    return {.host = wanted.host,
            .port = wanted.port,
            .certificate = wanted.certificate,
            .key = wanted.key,
            .plain = wanted.insecure ? Plain::anywhere : Plain::on_loopback};
}

ponk::Result<> check_serve(const ponk::cli::ServedAddress& wanted)
{
    return ponk::daemon::check_serve(serve_options(wanted));
}

ponk::Result<> run_daemon(const ponk::cli::DaemonOptions& wanted)
{
    ponk::daemon::Options options;
    options.home = wanted.home;
    options.on_ready = wanted.on_ready;
    options.sync = wanted.sync;
    options.host_program = {ponk_agent_program,
                            static_cast<std::size_t>(ponk_agent_program_end - ponk_agent_program)};
    if (wanted.serve) options.serve = serve_options(*wanted.serve);
    if (wanted.only_look) options.purpose = ponk::daemon::Options::Purpose::look;
    if (wanted.idle_exit_seconds)
        options.idle_limit = std::chrono::seconds(*wanted.idle_exit_seconds);
    return ponk::daemon::run(options);
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        if (ponk::gpu_monitor::is_wanted(argc, argv)) return ponk::gpu_monitor::main(argc, argv);
        return ponk::cli::main_entry(argc,
                                     argv,
                                     {.run_daemon = run_daemon,
                                      .check_serve = check_serve,
                                      .samples = {ponk_samples, ponk_samples_end},
                                      .report = {ponk_report, ponk_report_end}});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "ponk: error: %s\n", problem.what());
        return ponk::cli::exit_code::internal;
    }
}
