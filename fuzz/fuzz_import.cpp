// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "importer/recognise.hpp"
#include "os/directory.hpp"
#include "work_bound.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

// Any bytes as a file to be imported: a table or lines. Whatever comes of it can be stored, and the
// same file again brings the same runs.
namespace {

using namespace ponk;

// In memory where possible.
class Scratch {
public:
    Scratch()
    {
        const os::Path shared = "/dev/shm";
        const bool is_there = ::access(shared.c_str(), W_OK) == 0;
        auto made =
            os::make_temporary_directory(is_there ? shared : os::Path("/tmp"), "ponk-fuzz-");
        if (!made) std::abort();
        folder_ = std::move(*made);
    }
    ~Scratch() { static_cast<void>(os::remove_tree(folder_)); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] os::Path file() const { return folder_ / "file"; }

private:
    os::Path folder_;
};

std::vector<std::string> runs_of(const os::Path& file, importer::Format format)
{
    std::vector<std::string> ids;
    const auto source = importer::open_source(file, format, {});
    if (!source) return ids;
    for (;;) {
        const auto item = (*source)->next();
        if (!item || !*item) return ids;
        const auto* run = std::get_if<importer::RunItem>(&(*item)->what);
        if (!run) continue;
        for (const auto& [key, value] : run->copy.run.tags) {
            if (key.empty() || !is_utf8(key) || !is_utf8(value)) std::abort();
        }
        ids.push_back(run->copy.run.id.text());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const WorkBound bound(size);
    static const Scratch scratch;
    const auto file = scratch.file();
    if (!os::replace_file(file, {reinterpret_cast<const char*>(data), size}, 0600)) std::abort();
    const auto format = importer::recognise(file);
    if (!format || *format == importer::Format::mlflow_database) return 0;
    if (runs_of(file, *format) != runs_of(file, *format)) std::abort();
    return 0;
}
