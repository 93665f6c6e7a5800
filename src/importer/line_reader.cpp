// SPDX-License-Identifier: Apache-2.0
#include "importer/line_reader.hpp"

#include "base/text.hpp"
#include "os/tree.hpp"

namespace ponk::importer {

namespace {

constexpr std::size_t block = std::size_t{256} << 10;

}  // namespace

LineReader::LineReader(os::Path file, os::Fd fd, std::uint64_t size, std::size_t longest)
    : file_(std::move(file)), fd_(std::move(fd)), size_(size), longest_(longest)
{
}

Result<LineReader> LineReader::open(const os::Path& file, std::size_t longest)
{
    auto fd = TRY(os::open_regular(file));
    os::FileStatus status;
    if (const int problem = os::status_of(fd.get(), status); problem != 0)
        return fail_errno(problem, "check {}", os::in_quotes(file));
    return LineReader(file, std::move(fd), status.size, longest);
}

std::string LineReader::where() const
{
    return fmt::format("{}:{}", printable(file_.native()), number_);
}

double LineReader::fraction() const
{
    return size_ == 0 ? 1 : static_cast<double>(at_) / static_cast<double>(size_);
}

Result<bool> LineReader::next(std::string& line)
{
    ++number_;
    for (;;) {
        const auto end = held_.find('\n', searched_);
        if (end != std::string::npos) {
            line.assign(held_, begin_, end - begin_);
            begin_ = end + 1;
            searched_ = begin_;
            return true;
        }
        searched_ = held_.size();
        if (held_.size() - begin_ > longest_)
            return fail(ErrorKind::invalid_argument,
                        "{}: the line is longer than {}",
                        where(),
                        byte_size_text(longest_));
        const auto more = TRY(os::read_at(fd_.get(), at_, block));
        at_ += more.size();
        if (more.empty()) {
            line.assign(held_, begin_);
            held_.clear();
            begin_ = searched_ = 0;
            return !line.empty();
        }
        held_.erase(0, begin_);
        searched_ -= begin_;
        begin_ = 0;
        held_ += more;
    }
}

}  // namespace ponk::importer
