// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/host_setup.hpp"

#include "base/text.hpp"

#include <map>

namespace ponk::cli {
namespace {

constexpr std::chrono::seconds survey_limit{60};
constexpr std::chrono::minutes setup_limit{30};
constexpr int wrong_password = 9;

constexpr const char* survey_script = R"sh(
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
is() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }
if [ -r /etc/os-release ]; then . /etc/os-release; fi
echo "system=${PRETTY_NAME:-unknown}"
echo "like=${ID:-} ${ID_LIKE:-}"
echo "user=$(id -un)"
echo "uid=$(id -u)"
echo "groups=$(id -Gn)"
echo "apt=$(is command -v apt-get)"
echo "sudo=$(is command -v sudo)"
echo "sudo_free=$(is sudo -n true)"
echo "docker=$(is command -v dockerd)"
echo "answers=$(is docker version)"
echo "live=$(is grep -q '"live-restore"[[:space:]]*:[[:space:]]*true' /etc/docker/daemon.json)"
echo "python=$(is command -v python3)"
echo "venv=$(is python3 -c 'import venv, ensurepip')"
)sh";

// Runs as root, with $1 packages, $2 user, $3 steps.
constexpr const char* root_script = R"sh(
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH DEBIAN_FRONTEND=noninteractive
packages=$1 user=$2 steps=$3
has() { case " $steps " in *" $1 "*) return 0 ;; esac; return 1; }
systemd() { [ -d /run/systemd/system ]; }
if has packages; then
    echo "== apt-get update"
    apt-get update
    echo "== apt-get install $packages"
    apt-get install -y --no-install-recommends $packages
fi
if has live-restore; then
    echo "== live-restore in /etc/docker/daemon.json"
    mkdir -p /etc/docker
    file=/etc/docker/daemon.json
    if [ -s "$file" ]; then
        cp -p "$file" "$file.before-ponk"
        python3 - "$file" <<'END'
import json, os, shutil, sys
path = os.path.realpath(sys.argv[1])
with open(path) as stream:
    settings = json.load(stream)
settings["live-restore"] = True
shutil.copy2(path, path + ".new")
with open(path + ".new", "w") as stream:
    json.dump(settings, stream, indent=2)
    stream.write("\n")
    stream.flush()
    os.fsync(stream.fileno())
os.rename(path + ".new", path)
END
    else
        printf '{\n  "live-restore": true\n}\n' > "$file.new"
        mv "$file.new" "$file"
    fi
    if systemd; then systemctl reload docker 2>/dev/null || :
    elif [ -s /run/docker.pid ]; then kill -HUP "$(cat /run/docker.pid)" || :
    fi
fi
if has service; then
    echo "== start docker"
    if systemd; then systemctl enable --now docker; else service docker start; fi
fi
if has group; then
    echo "== add $user to the group docker"
    groupadd -f docker
    usermod -aG docker "$user"
fi
echo "== done"
)sh";

// `printf` is the shell's own, so the password is in no process list.
constexpr const char* outer_script = R"sh(
take; way=$value
take; password=$value
take; script=$value
take; packages=$value
take; user=$value
take; steps=$value
exec 2>&1
case "$way" in
    root) exec /bin/sh -c "$script" ponk "$packages" "$user" "$steps" </dev/null ;;
    free) exec sudo -n /bin/sh -c "$script" ponk "$packages" "$user" "$steps" </dev/null ;;
esac
if ! printf '%s\n' "$password" | sudo -k -S -p '' true 2>/dev/null; then exit 9; fi
printf '%s\n' "$password" | sudo -k -S -p '' /bin/sh -c "$script" ponk "$packages" "$user" "$steps"
)sh";

}  // namespace

HostSurvey parse_survey(std::string_view text)
{
    std::map<std::string, std::string, std::less<>> said;
    for (const auto& line : split(text, '\n')) {
        const auto equals = line.find('=');
        if (equals != std::string::npos) said[line.substr(0, equals)] = line.substr(equals + 1);
    }
    const auto yes = [&](std::string_view key) {
        const auto found = said.find(key);
        return found != said.end() && found->second == "yes";
    };
    const auto holds = [&](const char* key, std::string_view word) {
        for (const auto& part : split(said[key], ' ')) {
            if (part == word) return true;
        }
        return false;
    };
    HostSurvey survey;
    survey.system = said["system"];
    survey.user = said["user"];
    survey.has_apt = yes("apt");
    survey.is_debian = holds("like", "debian") || holds("like", "ubuntu");
    survey.is_root = said["uid"] == "0";
    survey.sudo = yes("sudo_free") ? HostSurvey::Sudo::free
                  : yes("sudo")    ? HostSurvey::Sudo::asks
                                   : HostSurvey::Sudo::none;
    survey.has_docker = yes("docker");
    survey.docker_answers = yes("answers");
    survey.in_docker_group = holds("groups", "docker");
    survey.live_restore = yes("live");
    survey.has_python = yes("python");
    survey.has_venv = yes("venv");
    return survey;
}

Result<HostSurvey> survey_host(ssh::Connection& connection, std::stop_token stop)
{
    const auto output =
        TRY(connection.run(survey_script, {}, after(survey_limit), std::move(stop)));
    return parse_survey(output.out);
}

Result<SetupPlan> plan_setup(const HostSurvey& survey, HostRole role)
{
    if (!survey.has_apt || !survey.is_debian) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  fmt::format("the machine runs '{}', but ponk can set up only Debian and Ubuntu",
                              printable(survey.system)),
                  "Install a Docker engine there by hand and allow the user to use it; 'ponk "
                  "computetarget check' then shows what is missing."));
    }
    SetupPlan plan;
    if (role == HostRole::containers && !survey.has_docker && !survey.docker_answers)
        plan.packages.emplace_back("docker.io");
    if (role == HostRole::python && !survey.has_python) plan.packages.emplace_back("python3");
    if (role == HostRole::python && !survey.has_venv) plan.packages.emplace_back("python3-venv");
    if (!plan.packages.empty())
        plan.steps.push_back(
            {"packages", "install " + join(plan.packages, ", ") + " with apt-get"});
    if (role == HostRole::containers) {
        if (!survey.live_restore)
            plan.steps.push_back({"live-restore",
                                  "set \"live-restore\": true in /etc/docker/daemon.json, so that "
                                  "runs survive a restart of the engine"});
        if (!survey.docker_answers)
            plan.steps.push_back({"service", "start the service docker, now and at every boot"});
        if (!survey.is_root && !survey.in_docker_group)
            plan.steps.push_back(
                {"group",
                 fmt::format(
                     "add '{}' to the group docker, which gives it the rights of root there",
                     printable(survey.user))});
    }
    if (!plan.steps.empty() && !survey.is_root && survey.sudo == HostSurvey::Sudo::none) {
        return tl::unexpected(Error(
            ErrorKind::unavailable,
            fmt::format("'{}' cannot change the machine: it is not root and has no sudo",
                        printable(survey.user)),
            "Attach the machine as a user with sudo, or ask its owner to do this: " +
                [&] {
                    std::vector<std::string> says;
                    for (const auto& step : plan.steps)
                        says.push_back(step.says);
                    return join(says, "; ");
                }() +
                "."));
    }
    return plan;
}

Result<> run_setup(ssh::Connection& connection,
                   const HostSurvey& survey,
                   const SetupPlan& plan,
                   ssh::Secret password,
                   const ssh::Connection::Sink& sink,
                   std::stop_token stop)
{
    std::vector<std::string> ids;
    for (const auto& step : plan.steps)
        ids.push_back(step.id);
    const char* way = survey.is_root                          ? "root"
                      : survey.sudo == HostSurvey::Sudo::free ? "free"
                                                              : "asks";
    std::vector<std::string> arguments{
        way, password.text(), root_script, join(plan.packages, " "), survey.user, join(ids, " ")};
    password.forget();
    auto output =
        connection.run(outer_script, arguments, after(setup_limit), std::move(stop), {}, sink);
    wipe(arguments[1]);
    if (!output) return tl::unexpected(output.error());
    const int code = output->exit.status();
    if (code == 0) return {};
    if (code == wrong_password && way == std::string_view("asks")) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  fmt::format("sudo on '{}' does not accept the password, or '{}' may not use sudo",
                              connection.address().text(),
                              printable(survey.user)),
                  "Nothing was changed on the machine."));
    }
    return tl::unexpected(Error(
        ErrorKind::unavailable,
        fmt::format("setting up '{}' failed with exit code {}: {}",
                    connection.address().text(),
                    code,
                    printable(trim(output->out.substr(
                        output->out.size() - std::min<std::size_t>(output->out.size(), 300))))),
        "See the log. Completed steps are kept, and 'setup' can be repeated."));
}

}  // namespace ponk::cli
