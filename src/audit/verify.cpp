// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::audit {

namespace {

std::string place_of(const LogFile& file, std::int64_t line)
{
    return fmt::format("audit/{}:{}", file.path.filename().native(), line);
}

// Walks along the chain; the first break ends it.
class Walk {
public:
    Walk(Head head, std::optional<Anchor> anchor)
        : told_(std::move(head)), anchor_(std::move(anchor))
    {
    }

    Result<> read(const LogFile& file, bool is_last)
    {
        ++verdict_.files;
        if (last_file_ != 0 && file.number != last_file_ + 1) {
            stop(place_of(file, 1),
                 fmt::format("the file before it, '{:06}.jsonl', is missing", file.number - 1));
        }
        last_file_ = file.number;
        std::int64_t lines = 0;
        const auto rest = TRY(
            for_each_line(file.path, [&](std::string_view line, std::int64_t number) -> Result<> {
                lines = number;
                if (!verdict_.broken) look(file, line, number);
                return {};
            }));
        if (rest.empty() || verdict_.broken) return {};
        if (!is_last) {
            stop(place_of(file, lines + 1), "the line has no end, and another file follows");
        } else {
            verdict_.notes.push_back(fmt::format(
                "{}: the last line is not complete; the daemon removes it at its next start",
                place_of(file, lines + 1)));
        }
        return {};
    }

    Verdict finish()
    {
        if (verdict_.broken) return std::move(verdict_);
        if (told_.number > verdict_.head.number) {
            stop(last_place_.empty() ? "audit" : last_place_,
                 fmt::format("records {} to {} are missing behind it ('audit.head' has them)",
                             verdict_.head.number + 1,
                             told_.number));
        } else if (told_.number > 0 && told_.number >= verdict_.first && !met_head_) {
            stop("audit.head", fmt::format("record {} has another hash", told_.number));
        } else if (anchor_ && anchor_->number > verdict_.head.number) {
            stop(last_place_, fmt::format("there is no record {}", anchor_->number));
        } else if (anchor_ && anchor_->number < verdict_.first) {
            verdict_.notes.push_back(
                fmt::format("record {} is older than what is kept", anchor_->number));
        }
        return std::move(verdict_);
    }

private:
    void stop(std::string place, std::string what)
    {
        if (!verdict_.broken) verdict_.broken = Break{std::move(place), std::move(what)};
    }

    void look(const LogFile& file, std::string_view text, std::int64_t number)
    {
        const auto place = place_of(file, number);
        const auto line = parse_line(text);
        if (!line) return stop(place, line.error().message());
        if (verdict_.first == 0) {
            begin(place, *line);
        } else if (line->number != verdict_.head.number + 1) {
            return stop(place,
                        line->number > verdict_.head.number + 1
                            ? fmt::format("records {} to {} are missing before it",
                                          verdict_.head.number + 1,
                                          line->number - 1)
                            : fmt::format("record {} is out of order", line->number));
        } else if (line->previous != verdict_.head.hash) {
            return stop(place, "it does not follow the record before it");
        }
        const auto kind = line->members.text("kind");
        if (kind == "missing" || kind == "headless")
            return stop(place, "the daemon found at its start: " + line->members.text("text"));
        if (kind == "removed") find_beginning(line->members["object"]);
        verdict_.head = {line->number, line->hash};
        last_place_ = place;
        if (line->number == told_.number && line->hash == told_.hash) met_head_ = true;
        if (anchor_ && line->number == anchor_->number && line->hash != anchor_->hash)
            stop(place, fmt::format("record {} has another hash than you expect", line->number));
    }

    // The oldest record that is kept is the first of all, or follows one that was removed.
    void begin(std::string place, const Line& line)
    {
        verdict_.first = line.number;
        beginning_ = {line.number - 1, line.previous};
        is_justified_ = line.number == 1 && line.previous == Head().hash;
        begin_place_ = std::move(place);
    }

    void find_beginning(const Json& object)
    {
        if (object.integer("last") != beginning_.number || object.text("hash") != beginning_.hash)
            return;
        is_justified_ = true;
        verdict_.removed = Removed{beginning_.number, object.text("until")};
    }

public:
    // Called when everything was read: the record that says so is behind those that it speaks of.
    void check_beginning()
    {
        if (verdict_.first != 0 && !is_justified_ && !verdict_.broken)
            verdict_.broken =
                Break{begin_place_,
                      fmt::format(
                          "records 1 to {} are missing, and no record says that they were removed",
                          beginning_.number)};
    }

private:
    Head told_;
    std::optional<Anchor> anchor_;
    Verdict verdict_;
    std::int64_t last_file_ = 0;
    std::string last_place_;
    std::string begin_place_;
    Head beginning_;
    bool is_justified_ = false;
    bool met_head_ = false;
};

}  // namespace

Result<Verdict> verify(const Path& home, const std::optional<Anchor>& anchor)
{
    // Before the files: what is written meanwhile only makes them longer.
    const auto text = TRY(os::read_file_if_any(head_file(home), 4096));
    const auto files = TRY(list_files(home));
    if (!text && !files.empty()) {
        Verdict verdict;
        verdict.broken = Break{"audit.head", "it is missing: nobody knows how long the log was"};
        return verdict;
    }
    Head head;
    if (text) {
        auto parsed = parse_head(*text);
        if (!parsed) {
            Verdict verdict;
            verdict.broken = Break{"audit.head", parsed.error().message()};
            return verdict;
        }
        head = std::move(*parsed);
    }
    Walk walk(std::move(head), anchor);
    for (const auto& file : files)
        TRY(walk.read(file, &file == &files.back()));
    walk.check_beginning();
    return walk.finish();
}

}  // namespace ponk::audit
