// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace audit_verify_command {

constexpr Option options[] = {
    {.name = "expect",
     .value = "N:HASH",
     .help = "Record N must have this hash: what an earlier 'audit verify' printed, kept where "
             "nobody who can change the log can change it."},
};
constexpr Example examples[] = {
    {"ponk audit verify", "Whether all records are there and none was changed."},
    {"ponk audit verify -o json --query head", "The hash to write down elsewhere."},
};

std::optional<audit::Anchor> anchor_of(std::string_view text)
{
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto number = parse_integer(text.substr(0, colon));
    Digest digest;
    if (!number || *number < 1 || !parse_digest(text.substr(colon + 1), digest))
        return std::nullopt;
    return audit::Anchor{*number, digest.text()};
}

std::string removal_text(const audit::Verdict& verdict)
{
    if (!verdict.removed) return {};
    const auto& [last, until] = *verdict.removed;
    return fmt::format("\nremoved: records 1 to {}{}, when the log had reached its size",
                       last,
                       until.empty() ? "" : ", until " + until);
}

Outcome run(Context& context, const Invocation& words)
{
    std::optional<audit::Anchor> anchor;
    if (const auto text = words.value("expect")) {
        anchor = anchor_of(*text);
        if (!anchor) return fail_usage("'--expect {}' is not a number, ':' and a hash", *text);
    }
    const auto verdict = TRY(audit::verify(TRY(context.home()), anchor));
    for (const auto& note : verdict.notes)
        context.note("{}", note);
    if (verdict.broken) {
        return tl::unexpected(Error(ErrorKind::damaged,
                                    "the audit log is broken at " + verdict.broken->place + ": " +
                                        verdict.broken->what,
                                    "What comes before that place is as it was written; what "
                                    "follows proves nothing."));
    }
    const auto head = fmt::format("{}:{}", verdict.head.number, verdict.head.hash);
    if (verdict.head.number == 0) return context.done("the audit log is empty", {{"head", head}});
    JsonObject fields{{"first", verdict.first},
                      {"last", verdict.head.number},
                      {"files", static_cast<std::int64_t>(verdict.files)},
                      {"head", head}};
    if (verdict.removed)
        fields.set("removed",
                   JsonObject{{"last", verdict.removed->last}, {"until", verdict.removed->until}});
    return context.done(
        fmt::format("the audit log is unbroken: records {} to {}, {} file{}{}\nhead {}",
                    verdict.first,
                    verdict.head.number,
                    verdict.files,
                    verdict.files == 1 ? "" : "s",
                    removal_text(verdict),
                    head),
        std::move(fields));
}

}  // namespace audit_verify_command

constinit const Command cmd_audit_verify = {
    .path = "audit verify",
    .summary = "Check that no record of the audit log was changed or removed",
    .description =
        "Each record has the hash of the one before it. The first place where that does not hold "
        "is named with file and line; so is what was removed when the log had reached its size. "
        "Whoever can write all of ponk's folder can make a new log "
        "that is unbroken: a head that was written down elsewhere ('--expect') shows that, too.",
    .options = audit_verify_command::options,
    .examples = audit_verify_command::examples,
    .run = audit_verify_command::run,
};

}  // namespace ponk::cli
