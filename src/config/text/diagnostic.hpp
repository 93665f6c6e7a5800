// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "config/text/place.hpp"

#include <string>
#include <vector>

namespace ponk::config {

// error: the file cannot mean what it says, nothing may run with it. warning: it runs, but
// probably not as meant. notice: worth knowing, nothing to do now.
enum class Severity { error, warning, notice };

const char* to_string(Severity severity);

// One remark about one place of one file. `code` is stable (docs/design/configuration.md lists
// all); `message` names things in quotes and has no full stop; `hint` is a sentence of advice, or
// empty.
struct Diagnostic {
    std::string file;
    std::uint32_t line = 0;  // 0: the file as a whole
    std::uint32_t column = 0;
    Severity severity = Severity::error;
    std::string code;
    std::string message;
    std::string hint;
};

using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);
// By file, line, column, then severity; equal ones once.
void sort_and_unify(Diagnostics& diagnostics);
// "aml_config/docker.compute:3:1: error: unknown key 'nvidiaDoker' [unknown-key]"
std::string to_text(const Diagnostic& diagnostic);
// {file, line, column, severity, code, message, hint}; line and column are null for a whole file.
Json to_json(const Diagnostic& diagnostic);
Json to_json(const Diagnostics& diagnostics);
// The errors among them as one failure: every one with its place on a line of its own.
Error to_error(const Diagnostics& diagnostics);

// Collects remarks about one file.
class Report {
public:
    explicit Report(std::string file) : file_(std::move(file)) {}

    void error(Place place, std::string_view code, std::string message, std::string hint = {});
    void warning(Place place, std::string_view code, std::string message, std::string hint = {});
    void notice(Place place, std::string_view code, std::string message, std::string hint = {});

    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    [[nodiscard]] const Diagnostics& diagnostics() const noexcept { return diagnostics_; }
    [[nodiscard]] bool has_errors() const { return config::has_errors(diagnostics_); }
    [[nodiscard]] Diagnostics take() { return std::move(diagnostics_); }

private:
    void add(Severity severity,
             Place place,
             std::string_view code,
             std::string message,
             std::string hint);

    std::string file_;
    Diagnostics diagnostics_;
};

}  // namespace ponk::config
