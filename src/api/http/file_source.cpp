// SPDX-License-Identifier: Apache-2.0
#include "api/http/file_source.hpp"

#include <algorithm>
#include <utility>

namespace ponk::api {

namespace {

// What a reader that has stopped reading holds.
constexpr std::size_t block = std::size_t{128} << 10;

class FileSource final : public net::BodySource {
public:
    FileSource(engine::OpenFile file, std::uint64_t from, std::uint64_t size, std::string first)
        : file_(std::move(file)), at_(from), left_(size), first_(std::move(first))
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        if (left_ == 0) return Step::end;
        auto bytes = first_.empty() ? file_.read(at_, std::min<std::uint64_t>(left_, block))
                                    : Result<std::string>(std::exchange(first_, {}));
        if (!bytes || bytes->empty()) return Step::broken;
        at_ += bytes->size();
        left_ -= bytes->size();
        out += *bytes;
        return Step::data;
    }

private:
    engine::OpenFile file_;
    std::uint64_t at_;
    std::uint64_t left_;
    std::string first_;
};

}  // namespace

Result<std::unique_ptr<net::BodySource>>
make_file_source(engine::OpenFile file, std::uint64_t from, std::uint64_t size)
{
    auto first = TRY(file.read(from, std::min<std::uint64_t>(size, block)));
    return std::make_unique<FileSource>(std::move(file), from, size, std::move(first));
}

}  // namespace ponk::api
