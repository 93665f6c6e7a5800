// SPDX-License-Identifier: Apache-2.0
#include "model/run_fields.hpp"

#include "base/time.hpp"
#include "model/run_field_list.hpp"

namespace ponk::model {

namespace {

class Writer {
public:
    Writer(const Run& run, unsigned form) : run_(run), form_(form) {}

    template <class Member>
    void add(const run_fields::RunField<Member>& field)
    {
        const auto& value = run_.*field.member;
        if (form_ == run_fields::details && is_usual(value, usual_.*field.member)) return;
        if constexpr (std::same_as<Member, std::string>) {
            if ((form_ & run_fields::shown) != 0 && value.empty() &&
                field.empty == run_fields::RunField<Member>::Empty::null) {
                out_.append(std::string(field.name), Json());
                return;
            }
        }
        out_.append(std::string(field.name), fields::write(value));
    }
    void add(const run_fields::ShownTime& field)
    {
        const auto time = run_.*field.member;
        out_.append(std::string(field.name), time == 0 ? Json() : Json(utc_text(time)));
    }
    void add(const run_fields::Computed& field)
    {
        out_.append(std::string(field.name), field.value(run_));
    }

    JsonObject take() { return std::move(out_); }

private:
    template <class Member>
    static bool is_usual(const Member& value, const Member& usual)
    {
        if constexpr (is_optional<Member>)
            return value.has_value() == usual.has_value();
        else
            return value == usual;
    }

    const Run& run_;
    const Run usual_{};
    unsigned form_;
    JsonObject out_;
};

class Reader {
public:
    Reader(const Json& json, Run& run) : json_(json), run_(run) {}

    template <class Member>
    void take(const run_fields::RunField<Member>& field)
    {
        const auto& given = json_[field.name];
        if (given.is_null()) return;
        auto value = run_.*field.member;
        const auto read = fields::read(given, value, std::string(field.name));
        if (read) run_.*field.member = std::move(value);
        if (!read && done_) done_ = read;
    }
    void take(const run_fields::ShownTime& /*field*/) {}
    void take(const run_fields::Computed& /*field*/) {}

    [[nodiscard]] Result<> done() const { return done_; }

private:
    const Json& json_;
    Run& run_;
    Result<> done_;
};

}  // namespace

JsonObject write_run(const Run& run, RunForm form)
{
    const auto bit = static_cast<unsigned>(form);
    Writer writer(run, bit);
    const auto add = [&](const auto& field) {
        if ((field.forms & bit) != 0) writer.add(field);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, run_fields::list());
    return writer.take();
}

Result<> read_run(const Json& json, RunForm form, Run& out)
{
    const auto bit = static_cast<unsigned>(form);
    if (!json.is_object()) return fields::wrong("run", "an object");
    Reader reader(json, out);
    const auto take = [&](const auto& field) {
        if ((field.forms & bit) != 0) reader.take(field);
    };
    std::apply([&](const auto&... field) { (take(field), ...); }, run_fields::list());
    return reader.done();
}

}  // namespace ponk::model
