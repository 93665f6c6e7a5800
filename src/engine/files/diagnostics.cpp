// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/files/zip_file.hpp"
#include "engine/plan/resolve_run.hpp"
#include "environment/address/address.hpp"
#include "environment/address/credential_filter.hpp"
#include "model/run_words.hpp"
#include "secrets/redactor.hpp"
#include "snapshot/materialise.hpp"

#include <fcntl.h>

namespace ponk::engine {

namespace {

using Patterns = std::shared_ptr<const secrets::RedactionPatterns>;

constexpr std::uint64_t largest_text = 1 << 20;

// Addresses in files of the project: indexes and wheels with "user:password@" or a signature. What
// cannot be read is told when the file itself is added.
void add_credentials(const Context& context,
                     const model::Run& run,
                     std::vector<std::string>& values)
{
    Digest id;
    if (!parse_digest(run.snapshot, id)) return;
    const auto manifest = context.objects.read_manifest(id);
    if (!manifest) return;
    for (const auto& entry : manifest->entries()) {
        if (!entry.is_file() || entry.size > largest_text) continue;
        std::string text;
        [[maybe_unused]] const auto read = snapshot::stream_file(
            context.objects, *manifest, entry.path, [&text](std::string_view bytes) -> Result<> {
                text += bytes;
                return {};
            });
        for (auto& value : environment::credentials_in(text))
            values.push_back(std::move(value));
    }
}

// Everything that may be secret: stored secrets, plain values of environment variables, where
// people of 2017 had to put their keys, and what lets one in to the addresses in the project.
Result<Patterns> patterns_of(const Context& context, const model::Run& run, const RunSpec& spec)
{
    auto values = TRY(context.secrets.values_for_redaction(secret_names(spec)));
    add_credentials(context, run, values);
    for (const auto& [name, value] : spec.program.variables) {
        if (!model::secret_reference(value) && value.size() >= 8) values.push_back(value);
    }
    return secrets::shared_patterns(values);
}

// Hides the values wherever they stand, then what stands where addresses have a credential: that
// may be too short to be looked for, or come from elsewhere than the project.
class Hider {
public:
    explicit Hider(const Patterns& patterns) : redactor_(patterns) {}

    std::string feed(std::string_view bytes) { return filter_.feed(redactor_.feed(bytes)); }
    std::string finish()
    {
        auto out = filter_.feed(redactor_.finish());
        return out += filter_.finish();
    }

private:
    secrets::Redactor redactor_;
    environment::CredentialFilter filter_;
};

std::string hide(const Patterns& patterns, std::string_view text)
{
    Hider hider(patterns);
    auto out = hider.feed(text);
    return out += hider.finish();
}

Result<> add_log(ZipFile& zip, const Path& log, const Patterns& patterns)
{
    const auto file = os::open_regular(log, os::Links::refuse);
    if (!file) return {};
    Hider hider(patterns);
    TRY(zip.begin("driver_log.txt"));
    for (std::uint64_t at = 0;;) {
        const auto bytes = TRY(os::read_at(file->get(), at, std::size_t{1} << 20));
        if (bytes.empty()) break;
        at += bytes.size();
        TRY(zip.write(hider.feed(bytes)));
    }
    TRY(zip.write(hider.finish()));
    return zip.end();
}

bool is_about_the_store(const Error& error)
{
    return error.kind() == ErrorKind::damaged || error.kind() == ErrorKind::not_found;
}

// Files of the snapshot that cannot be read are named in `problems`; the others are there.
Result<> add_project(ZipFile& zip,
                     const Context& context,
                     const model::Run& run,
                     const Patterns& patterns,
                     std::vector<std::string>& problems)
{
    Digest id;
    if (!parse_digest(run.snapshot, id)) return {};
    const auto manifest = context.objects.read_manifest(id);
    if (!manifest) {
        problems.push_back("the project as executed: " + manifest.error().message());
        return {};
    }
    for (const auto& entry : manifest->entries()) {
        if (!entry.is_file()) continue;
        Hider hider(patterns);
        TRY(zip.begin("project/" + hide(patterns, entry.path)));
        const auto streamed = snapshot::stream_file(
            context.objects, *manifest, entry.path, [&](std::string_view bytes) {
                return zip.write(hider.feed(bytes));
            });
        if (!streamed && !is_about_the_store(streamed.error())) return streamed;
        if (!streamed)
            problems.push_back("'project/" + printable(entry.path) +
                               "' is incomplete: " + streamed.error().message());
        TRY(zip.write(hider.finish()));
        TRY(zip.end());
    }
    return {};
}

Json record_of(const model::Run& run, const RunSpec& spec)
{
    auto shown = spec;
    for (auto& [name, value] : shown.program.variables) {
        if (!model::secret_reference(value)) value = "(not shown)";
    }
    return JsonObject{{"run_id", run.id.text()},
                      {"status", model::to_string(run.state)},
                      {"exit_code", run.exit_code ? Json(*run.exit_code) : Json()},
                      {"error", run.error ? Json(run.error->message()) : Json()},
                      {"created_utc", utc_text(run.created)},
                      {"specification", to_json(shown)},
                      {"git", run.git},
                      {"evidence", run.evidence},
                      {"gpu", run.gpu},
                      {"ponk_version", own_version()}};
}

}  // namespace

Result<Diagnostics>
write_diagnostics(const Context& context, const model::Run& run, const Path& destination)
{
    if (run.target_type == model::client_target) {
        return fail(ErrorKind::conflict,
                    "run '{}' belongs to a client of the tracking API: ponk has only its record",
                    run.id.text());
    }
    const auto spec = TRY(model::parse_run_spec(run.configuration));
    const auto patterns = TRY(patterns_of(context, run, spec));
    if (destination.empty()) TRY(require_made_here(run));
    auto path = destination.empty() ? Path(run.project_path) : destination;
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem))
        path /= "ponk-diagnostics-" + run.id.text() + ".zip";
    auto zip = TRY(ZipFile::create(path));
    TRY(zip.add("run.json",
                hide(patterns, ponk::to_json(record_of(run, spec), JsonStyle::pretty))));
    Diagnostics done{path, {}};
    std::string story;
    const auto events = context.history.events(run.id, 0, 100'000);
    if (!events) done.problems.push_back("the run's events: " + events.error().message());
    for (const auto& event : events.value_or(std::vector<store::Event>()))
        story += utc_text(event.time) + " " + event.kind + " " + event.text + "\n";
    TRY(zip.add("control_log.txt", hide(patterns, story)));
    TRY(add_log(zip, context.run_directory(run.id).task() / "log", patterns));
    TRY(add_project(zip, context, run, patterns, done.problems));
    for (const auto& finding : list_artifacts(context, run).problems)
        done.problems.push_back(finding.message());
    if (!done.problems.empty())
        TRY(zip.add("problems.txt", hide(patterns, join(done.problems, "\n") + "\n")));
    TRY(zip.finish());
    return done;
}

}  // namespace ponk::engine
