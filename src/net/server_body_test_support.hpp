// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/work_budget.hpp"
#include "net/account.hpp"
#include "net/server_test_support.hpp"

#include <atomic>
#include <condition_variable>
#include <thread>

namespace ponk::net {

using namespace std::chrono_literals;

// What sinks were told.
struct Diary {
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::size_t> largest{0};
    std::atomic<int> finished{0};
    std::atomic<int> aborted{0};
    std::atomic<int> gone{0};
};

class CountingSink final : public BodySink {
public:
    CountingSink(Diary& diary, std::size_t most) : diary_(diary), most_(most) {}
    ~CountingSink() override { ++diary_.gone; }
    std::optional<Response> open() override
    {
        if (most_ > 0) return std::nullopt;
        return error_response(Error(ErrorKind::unavailable, "no room"), 507);
    }
    std::optional<Response> write(std::string_view bytes) override
    {
        EXPECT_FALSE(bytes.empty());
        diary_.bytes += bytes.size();
        diary_.largest = std::max(diary_.largest.load(), bytes.size());
        if (diary_.bytes > most_)
            return error_response(Error(ErrorKind::invalid_argument, "full"), 400);
        return std::nullopt;
    }
    Response finish() override
    {
        ++diary_.finished;
        return json_response(Json(static_cast<std::uint64_t>(diary_.bytes)));
    }
    void abort() noexcept override { ++diary_.aborted; }

private:
    Diary& diary_;
    std::size_t most_;
};

class Zeros final : public BodySource {
public:
    explicit Zeros(std::uint64_t size) : left_(size) {}
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        const auto now = std::min<std::uint64_t>(left_, 50'000);
        out.append(now, '0');
        left_ -= now;
        return left_ == 0 ? Step::end : Step::data;
    }

private:
    std::uint64_t left_;
};

// Pieces that are larger than what sockets hold. Says before it makes one, where it should.
class LargePieces final : public BodySource {
public:
    enum class Charge { no, yes };

    LargePieces(std::atomic<int>& made, std::size_t size, Charge charge)
        : made_(made), size_(size), charge_(charge)
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        if (charge_ == Charge::yes && !charge_answer(size_)) return Step::no_room;
        ++made_;
        out.append(size_, 'p');
        return --left_ == 0 ? Step::end : Step::data;
    }

private:
    std::atomic<int>& made_;
    std::size_t size_;
    Charge charge_;
    int left_ = 2;
};

class Bodies : public testing::Test {
protected:
    static constexpr std::size_t text_size = std::size_t{24} << 20;  // more than sockets hold

    Handlers handlers()
    {
        Handlers handlers;
        handlers.answer = [this](const Request& request) {
            if (request.path[0] == "text") {
                Response text;
                text.body = std::string(text_size, 'x') + "\n";
                return text;
            }
            if (request.path[0] == "pieces") {
                Response pieces;
                pieces.stream = std::make_unique<LargePieces>(
                    made_,
                    text_size,
                    request.parameter("free") ? LargePieces::Charge::no : LargePieces::Charge::yes);
                return pieces;
            }
            if (request.path[0] != "zeros") return json_response(Json(request.body));
            Response response;
            response.type = "application/octet-stream";
            const auto size = std::stoull(request.parameter("size").value_or("0"));
            response.stream = std::make_unique<Zeros>(size);
            response.stream_size = std::stoull(request.parameter("told").value_or("0"));
            return response;
        };
        handlers.receive = [this](const Request& head) {
            EXPECT_TRUE(head.body.empty());
            Reception reception;
            reception.body_limit = 1000;
            if (head.path[0] == "sink")
                reception.sink = std::make_unique<CountingSink>(diary_, most_);
            if (head.path[0] == "large") reception.body_limit = std::size_t{1} << 20;
            if (head.path[0] == "closed")
                reception.answer = error_response(Error(ErrorKind::conflict, "no"), 401);
            return reception;
        };
        handlers.error_shape = [](std::string_view target, const Error& error, int status) {
            return json_response(JsonObject{{"at", target}, {"said", error.message()}}, status);
        };
        return handlers;
    }

    bool becomes(const std::atomic<int>& value, int wanted)
    {
        const auto limit = after(20s);
        while (value != wanted && Deadline::clock::now() < limit)
            std::this_thread::sleep_for(1ms);
        return value == wanted;
    }

    Diary diary_;
    std::atomic<int> made_ = 0;
    std::size_t most_ = std::size_t{1} << 40;
};

}  // namespace ponk::net
