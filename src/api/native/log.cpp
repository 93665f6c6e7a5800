// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "api/native/log_place.hpp"
#include "api/native/log_source.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "engine/context/log_check.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "secrets/redactor.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::api {

namespace {

constexpr std::size_t block = std::size_t{256} * 1024;
// Looking for secrets takes longer: what is done at once stays a matter of milliseconds.
constexpr std::size_t masked_block = std::size_t{64} * 1024;

// Whoever begins in the midst of a log reads so much before it: no form of a secret is longer.
constexpr std::uint64_t longest_form = std::uint64_t{1} << 20;

// The bytes of a run's log from an offset on, with the run's secrets masked. Offsets count served
// bytes: with masks they differ from the file's, so a log with secrets is read from the last place
// before the offset that an earlier reader has found, else from its beginning. They count from
// `from`, which is a place in the file.
class LogSource final : public net::BodySource {
public:
    enum class Follow { no, yes };
    enum class Holes { leave_out, keep };

    struct Range {
        std::uint64_t from = 0;
        std::uint64_t offset = 0;
    };

    LogSource(const Services& services,
              RunId id,
              Range range,
              Follow follow,
              Holes holes,
              std::shared_ptr<const secrets::RedactionPatterns> patterns)
        : services_(services), id_(std::move(id)), follow_(follow), holes_(holes), from_(range.from)
    {
        if (patterns && !patterns->empty()) {
            redactor_.emplace(patterns);
            patterns_ = std::move(patterns);
            skip_ = range.offset;
        } else {
            at_ = range.offset;
        }
    }

    void attach(std::function<void()> ring) override
    {
        if (follow_ == Follow::yes)
            subscription_ = services_.context().notifier.subscribe(id_, std::move(ring));
    }

    Step next(std::string& out) override
    {
        for (;;) {
            if (!file_ && !open()) return Step::broken;
            if (file_) {
                pass_hole();
                const auto got = redactor_ ? read_masked(out) : read_plain(out);
                if (!got) return Step::broken;
                // Without bytes where all of it may begin a secret, or is before the offset.
                if (*got) return Step::data;
            }
            if (over_) {
                if (redactor_) give(out, redactor_->finish());
                keep_digest();
                return Step::end;
            }
            // Once an end is seen, what is in the file is all: read again, then finish.
            const auto state = services_.history().find_state(id_);
            over_ = follow_ == Follow::no || !state || !*state || model::is_terminal(**state);
            if (!over_) return Step::waiting;
        }
    }

private:
    // Without a log yet it is no failure.
    Result<> open()
    {
        auto file = os::open_regular(services_.context().log_of(id_).path, os::Links::refuse);
        if (!file) return {};
        file_ = std::move(*file);
        if (from_ > 0) return begin_in_the_midst();
        if (holes_ == Holes::leave_out && at_ > 0) at_ = place_of(file_.get(), 0, at_);
        if (redactor_) begin_at_mark();
        // Who reads all of it can tell its digest; of one that is known no other is needed.
        if (at_ == 0 && follow_ == Follow::no && os::status_of(file_.get(), opened_) == 0 &&
            !services_.context().log_digests->find(id_, opened_))
            hash_.emplace();
        return {};
    }

    Result<> begin_in_the_midst()
    {
        if (!redactor_) {
            at_ = holes_ == Holes::keep ? from_ + at_ : place_of(file_.get(), from_, at_);
            return {};
        }
        // A secret that goes on here is masked as it is for others.
        const auto given = TRY(feed_before(*redactor_));
        if (redactor_->rest() == secrets::Redactor::Rest::holding) {
            // What it holds back belongs to the lines before, too.
            secrets::Redactor other(patterns_);
            skip_ += TRY(feed_before(other)) + other.finish().size() - given;
        }
        at_ = from_;
        return {};
    }

    // The bytes before the place; how many it gave for them.
    Result<std::uint64_t> feed_before(secrets::Redactor& redactor) const
    {
        std::uint64_t given = 0;
        for (auto at = from_ - std::min(from_, longest_form); at < from_;) {
            const auto left = std::min<std::uint64_t>(masked_block, from_ - at);
            const auto bytes = TRY(os::read_at(file_.get(), at, static_cast<std::size_t>(left)));
            if (bytes.empty()) break;
            at += bytes.size();
            given += redactor.feed(bytes).size();
        }
        return given;
    }

    void begin_at_mark()
    {
        struct stat info {};
        if (::fstat(file_.get(), &info) != 0) return;
        log_ = {id_, info.st_ino, patterns_};
        const auto mark = services_.log_marks->find(*log_, skip_);
        if (!mark || mark->file > static_cast<std::uint64_t>(info.st_size)) return;
        at_ = mark->file;
        served_ = mark->served;
        skip_ -= mark->served;
        redactor_->resume(mark->rest);
    }

    // Where others may begin later.
    void note_mark()
    {
        if (!log_ || at_ < noted_ + LogMarks::spacing) return;
        const auto rest = redactor_->rest();
        if (rest == secrets::Redactor::Rest::holding) return;
        services_.log_marks->note(*log_, {at_, served_, rest});
        noted_ = at_;
    }

    void keep_digest()
    {
        os::FileStatus now;
        if (!hash_ || os::status_of(file_.get(), now) != 0) return;
        if (now.same_version(opened_) && now.size == at_)
            services_.context().log_digests->remember(id_, now, hash_->finish());
        hash_.reset();
    }

    void pass_hole()
    {
        if (holes_ == Holes::keep) return;
        const auto data = os::data_from(file_.get(), at_, size_of(file_.get()));
        if (data < at_ + large_hole) return;
        at_ = data;
        hash_.reset();
    }

    // How much can be there to read now: a follower is woken for much that is no log.
    [[nodiscard]] std::size_t room() const
    {
        const auto size = size_of(file_.get());
        const auto left =
            std::min<std::uint64_t>(redactor_ ? masked_block : block, size - std::min(at_, size));
        if (holes_ == Holes::keep) return static_cast<std::size_t>(left);
        // Up to the next large hole; what looks like one behind the block counts when we are there.
        const auto near = std::min(size, at_ + left + large_hole);
        const auto hole = large_hole_from(file_.get(), at_, near);
        return static_cast<std::size_t>(std::min(left, hole - std::min(at_, hole)));
    }

    // Both append what is new and say whether there was anything.
    Result<bool> read_plain(std::string& out)
    {
        const auto before = out.size();
        out.resize(before + room());
        const auto got =
            ::pread(file_.get(), out.data() + before, out.size() - before, static_cast<off_t>(at_));
        out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0) return fail_errno(errno, "read the log");
        at_ += static_cast<std::uint64_t>(got);
        if (hash_) hash_->update(std::string_view(out).substr(before));
        return got > 0;
    }

    Result<bool> read_masked(std::string& out)
    {
        const auto bytes = TRY(os::read_at(file_.get(), at_, room()));
        at_ += bytes.size();
        if (hash_) hash_->update(bytes);
        if (bytes.empty()) return false;
        give(out, redactor_->feed(bytes));
        note_mark();
        return true;
    }

    void give(std::string& out, std::string_view bytes)
    {
        const auto left_out = std::min<std::uint64_t>(skip_, bytes.size());
        skip_ -= left_out;
        served_ += bytes.size();
        out += bytes.substr(left_out);
    }

    const Services& services_;
    RunId id_;
    Follow follow_;
    Holes holes_;
    std::uint64_t from_;
    os::Fd file_;
    std::uint64_t at_ = 0;
    std::uint64_t skip_ = 0;
    std::uint64_t served_ = 0;  // masked bytes up to here, given or left out
    std::uint64_t noted_ = 0;   // the last mark of this reader
    std::shared_ptr<const secrets::RedactionPatterns> patterns_;
    std::optional<LogMarks::Log> log_;
    bool over_ = false;
    os::FileStatus opened_;
    std::optional<Sha256> hash_;
    std::optional<secrets::Redactor> redactor_;
    engine::Notifier::Subscription subscription_;
};

Result<std::shared_ptr<const secrets::RedactionPatterns>> patterns_of(const Services& services,
                                                                      const model::Run& run)
{
    return TRY(engine::RunSecrets::load(services.context(), run)).patterns();
}

Result<std::uint64_t> count_of(const Call& call, std::string_view name, std::string_view what)
{
    const auto number = parse_integer(call.request.parameter(name).value_or("0"));
    if (!number || *number < 0)
        return fail(ErrorKind::invalid_argument, "'{}' must be {}", name, what);
    return static_cast<std::uint64_t>(*number);
}

}  // namespace

Result<std::unique_ptr<net::BodySource>>
log_bytes(const Services& services, const RunId& id, std::uint64_t offset)
{
    const auto run = TRY(services.history().get_run(id));
    return std::unique_ptr<net::BodySource>(
        std::make_unique<LogSource>(services,
                                    id,
                                    LogSource::Range{0, offset},
                                    LogSource::Follow::no,
                                    LogSource::Holes::leave_out,
                                    TRY(patterns_of(services, run))));
}

Result<net::Response> find_log_tail(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto lines = TRY(count_of(call, "lines", "a number of lines"));
    const auto file = os::open_regular(services.context().log_of(id).path, os::Links::refuse);
    // A run that has not begun has no log yet: its tail is all that comes.
    const std::uint64_t from = file ? TRY(find_last_lines(file->get(), lines)) : 0;
    return net::json_response(JsonObject{{"from", static_cast<std::int64_t>(from)}});
}

Result<net::Response> show_log(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto run = TRY(services.history().get_run(id));
    LogSource::Range range;
    range.offset = TRY(count_of(call, "offset", "a number of bytes"));
    range.from = TRY(count_of(call, "from", "a number of bytes"));
    const bool raw = call.request.parameter("raw").value_or("") == "1";
    if (raw && call.request.listener_kind != net::ListenerKind::unix_socket) {
        return fail(ErrorKind::invalid_argument,
                    "only the owner can get a log with secrets, through the Unix socket");
    }
    const auto follow = call.request.parameter("follow").value_or("") == "1"
                            ? LogSource::Follow::yes
                            : LogSource::Follow::no;
    net::Response response;
    response.type = "application/octet-stream";
    response.headers.emplace_back("Ponk-Run", id.text());
    response.stream =
        std::make_unique<LogSource>(services,
                                    id,
                                    range,
                                    follow,
                                    raw ? LogSource::Holes::keep : LogSource::Holes::leave_out,
                                    raw ? nullptr : TRY(patterns_of(services, run)));
    return response;
}

namespace {

Result<std::optional<Error>> find_damage(const Services& services, const RunId& id)
{
    const auto& context = services.context();
    const auto run = TRY(services.history().get_run(id));
    return engine::find_log_damage(
        context.log_of(id), run, engine::LogDepth::thorough, *context.log_digests);
}

net::Response damage_response(const std::optional<Error>& damage)
{
    if (!damage) return net::json_response(JsonObject{{"problem", Json()}});
    return net::json_response(JsonObject{{"problem",
                                          JsonObject{{"kind", to_string(damage->kind())},
                                                     {"message", damage->message()},
                                                     {"hint", damage->hint()}}}});
}

}  // namespace

Result<net::Response> check_log(const Services& services, const Call& call)
{
    return damage_response(TRY(find_damage(services, TRY(run_of(services, call)))));
}

Result<net::Response> keep_log_damage(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto damage = TRY(find_damage(services, id));
    if (damage) {
        store::RunChange change;
        change.warnings.push_back(damage->message());
        TRY(services.history().update_run(id, change));
    }
    return damage_response(damage);
}

}  // namespace ponk::api
