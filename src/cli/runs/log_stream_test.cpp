// SPDX-License-Identifier: Apache-2.0
#include "base/api_version.hpp"
#include "base/version.hpp"
#include "cli/runs/log_stream.hpp"
#include "cli/terminal/interrupt.hpp"
#include "os/socket.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::seconds;

// A daemon that breaks off: each answer with log bytes ends in the middle, as when it was killed.
class BreakingDaemon {
public:
    BreakingDaemon(const os::Path& home, std::string log, std::size_t piece)
        : log_(std::move(log)), piece_(piece), listener_(*os::listen_unix(home / "daemon.sock")),
          thread_([this](const std::stop_token& stop) { serve(stop); })
    {
    }

    [[nodiscard]] int log_requests() const { return log_requests_; }

private:
    void serve(const std::stop_token& stop)
    {
        while (os::wait_readable(listener_.get(), after(seconds(60)), stop)) {
            const os::Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            while (peer && answer(peer.get(), stop)) {
            }
        }
    }

    bool answer(int peer, const std::stop_token& stop)
    {
        std::string request;
        while (request.find("\r\n\r\n") == request.npos) {
            if (!os::wait_readable(peer, after(seconds(60)), stop)) return false;
            char block[4096];
            const ssize_t got = ::read(peer, block, sizeof block);
            if (got <= 0) return false;
            request.append(block, static_cast<std::size_t>(got));
        }
        const std::size_t at = request.find("offset=");
        if (at == request.npos) {
            const std::string body =
                fmt::format(R"({{"version":"{}","api":{},"pid":0}})", own_version(), api_version);
            return reply(peer, body, body.size());
        }
        ++log_requests_;
        const std::string rest =
            log_.substr(std::min(log_.size(), std::stoul(request.substr(at + 7))));
        reply(peer, rest.substr(0, piece_), rest.size());
        return rest.size() <= piece_;
    }

    static bool reply(int peer, const std::string& body, std::size_t announced)
    {
        return os::write_all(
                   peer,
                   fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", announced, body))
            .has_value();
    }

    std::string log_;
    std::size_t piece_;
    os::Fd listener_;
    std::atomic<int> log_requests_{0};
    std::jthread thread_;
};

class LogStream : public testing::Test {
protected:
    LogStream() : home_(*os::make_temporary_directory(testing::TempDir(), "ponk-cli-")) {}
    ~LogStream() override { static_cast<void>(os::remove_tree(home_)); }

    os::Path home_;
};

TEST(ProjectPaths, are_shown_for_the_copys_wherever_the_bytes_are_cut)
{
    const std::string copy = "/h/runs/1/copy/";
    const std::string text =
        "/h/runs/1/cop /h/runs/1/copy/a.py //h/runs/1/copy/b /h/h/runs/2/copy/c /";
    const std::string shown = "/h/runs/1/cop /p/a.py //p/b /h/h/runs/2/copy/c /";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        for (std::size_t next = cut; next <= text.size(); ++next) {
            ProjectPaths paths({"/azureml-run/", copy}, "/p/");
            auto out = paths.feed(text.substr(0, cut));
            out += paths.feed(text.substr(cut, next - cut));
            out += paths.feed(text.substr(next));
            EXPECT_EQ(out + paths.finish(), shown) << cut << " " << next;
        }
    }
}

TEST(ProjectPaths, hold_nothing_back_that_cannot_be_one)
{
    ProjectPaths paths({"/azureml-run/"}, "/p/");
    EXPECT_EQ(paths.feed("50%/s /azure"), "50%/s ");
    EXPECT_EQ(paths.feed("us\r"), "/azureus\r");
    EXPECT_EQ(ProjectPaths().feed("/azureml-run/x"), "/azureml-run/x");
}

TEST_F(LogStream, loses_and_doubles_no_byte_when_the_daemon_breaks_off)
{
    std::string log;
    for (int i = 0; i < 300; ++i)
        log += fmt::format("line {} \xff\x1b[2J\r", i) + '\0';
    const BreakingDaemon server(home_, log, 997);
    auto daemon = Daemon::reach(home_);
    ASSERT_TRUE(daemon) << daemon.error().message();
    const os::Fd file = *os::open_file(home_ / "out", O_RDWR | O_CREAT);
    LogWriter writer(file.get());
    const auto copied =
        copy_log(*daemon, {.run = "0199", .offset = 0, .follow = Follow::yes}, writer);
    ASSERT_TRUE(copied) << copied.error().message();
    EXPECT_EQ(*copied, log.size());
    EXPECT_EQ(*os::read_file(home_ / "out"), log);
    EXPECT_EQ(server.log_requests(), static_cast<int>((log.size() + 996) / 997));
}

TEST_F(LogStream, starts_at_the_offset_asked_for)
{
    const BreakingDaemon server(home_, "0123456789", 100);
    auto daemon = Daemon::reach(home_);
    ASSERT_TRUE(daemon) << daemon.error().message();
    const os::Fd file = *os::open_file(home_ / "out", O_RDWR | O_CREAT);
    LogWriter writer(file.get());
    EXPECT_EQ(copy_log(*daemon, {.run = "0199", .offset = 4}, writer).value_or(0), 6U);
    EXPECT_EQ(*os::read_file(home_ / "out"), "456789");
}

TEST_F(LogStream, a_full_disk_behind_the_output_is_an_error)
{
    const BreakingDaemon server(home_, "some bytes", 100);
    auto daemon = Daemon::reach(home_);
    ASSERT_TRUE(daemon) << daemon.error().message();
    const os::Fd file = *os::open_file("/dev/full", O_WRONLY);
    LogWriter writer(file.get());
    const auto copied = copy_log(*daemon, {.run = "0199"}, writer);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().kind(), ErrorKind::damaged);
}

TEST_F(LogStream, nobody_at_the_socket_is_found_out_at_once)
{
    ASSERT_TRUE(os::replace_file(home_ / "x", ""));
    EXPECT_FALSE(Daemon::find(home_)->has_value());
    {
        const os::Fd left_behind = *os::listen_unix(home_ / "daemon.sock");
    }
    EXPECT_FALSE(Daemon::find(home_)->has_value());
}

TEST_F(LogStream, something_else_at_the_sockets_place_is_refused)
{
    ASSERT_TRUE(os::replace_file(home_ / "daemon.sock", "text"));
    const auto found = Daemon::find(home_);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::conflict);
}

TEST(Interrupts, the_first_stops_and_the_second_is_noticed)
{
    Interrupts interrupts;
    EXPECT_FALSE(interrupts.happened());
    ::kill(::getpid(), SIGINT);
    EXPECT_FALSE(os::sleep_for(seconds(30), interrupts.token()));
    EXPECT_TRUE(interrupts.happened());
    EXPECT_FALSE(interrupts.again_within(std::chrono::milliseconds(1)));
    ::kill(::getpid(), SIGINT);
    EXPECT_TRUE(interrupts.again_within(seconds(30)));
}

TEST(OverwrittenLines, HaveTheLastStateOfAProgressBar)
{
    OverwrittenLines lines;
    EXPECT_EQ(lines.feed("a\n10%\r2"), "a\n");
    EXPECT_EQ(lines.feed("0%\r"), "");
    EXPECT_EQ(lines.feed("\ndos\r\nlast"), "20%\ndos\n");
    EXPECT_EQ(lines.finish(), "last");
}

}  // namespace
}  // namespace ponk::cli
