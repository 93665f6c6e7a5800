// SPDX-License-Identifier: Apache-2.0
#include "environment/cache/record.hpp"

namespace ponk::environment {

namespace {

constexpr int format_version = 1;

}  // namespace

Json to_json(const Record& record)
{
    JsonObject object{{"format", format_version},
                      {"id", record.id},
                      {"key", record.key},
                      {"form", to_string(record.form)},
                      {"target", record.target},
                      {"builder", record.builder},
                      {"choice", record.choice},
                      {"reason", record.reason},
                      {"interpreter", record.interpreter},
                      {"prefix", record.prefix}};
    if (record.form == Form::image) {
        object.set("image", record.image);
        object.set("engine", record.engine);
        object.set("socket", record.socket);
        object.set("base_image", record.base_image);
    }
    object.set("spec", record.spec);
    object.set("lock_digest", record.lock_digest);
    object.set("packages", record.packages);
    object.set("size", record.size);
    object.set("built", record.built);
    return object;
}

Result<Record> parse_record(std::string_view text)
{
    const auto document = TRY(parse_json(text).map_error(
        [](const Error& error) { return Error(ErrorKind::damaged, error.message()); }));
    const auto form = document.text("form");
    if (document.integer("format") != format_version || !is_key(document.text("key")) ||
        (form != "prefix" && form != "image"))
        return fail(ErrorKind::damaged, "this is not a record of format {}", format_version);
    return Record{.id = document.text("id"),
                  .key = document.text("key"),
                  .form = form == "image" ? Form::image : Form::prefix,
                  .target = document.text("target"),
                  .builder = document.text("builder"),
                  .choice = document.text("choice"),
                  .reason = document.text("reason"),
                  .interpreter = document.text("interpreter"),
                  .prefix = document.text("prefix"),
                  .image = document.text("image"),
                  .engine = document.text("engine"),
                  .socket = document.text("socket"),
                  .base_image = document.text("base_image"),
                  .spec = document["spec"],
                  .lock_digest = document.text("lock_digest"),
                  .packages = document.integer("packages"),
                  .size = document.integer("size"),
                  .built = document.integer("built")};
}

}  // namespace ponk::environment
