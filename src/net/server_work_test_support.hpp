// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/work_budget.hpp"
#include "net/server_test_support.hpp"

#include <atomic>
#include <set>
#include <thread>

namespace ponk::net {

using namespace std::chrono_literals;

template <class Condition>
bool becomes_true(const Condition& condition)
{
    for (const auto limit = after(20s); Deadline::clock::now() < limit;) {
        if (condition()) return true;
        std::this_thread::sleep_for(1ms);
    }
    return condition();
}

// "/hold" and the body of "/held" wait until `open`; "/spin" and the body of "/spun" work until
// their work is over. That of "/news" waits for ever, that of "/endless" has no end. The client is
// what the query says.
class ServerWork : public testing::Test {
protected:
    class Source final : public BodySource {
    public:
        Source(ServerWork& test, std::string kind) : test_(test), kind_(std::move(kind)) {}
        ~Source() override { ++test_.gone_; }
        void attach(std::function<void()> /*ring*/) override {}
        Step next(std::string& out) override
        {
            test_.note_thread();
            if (kind_ == "spun") return Step::data;  // long work without a byte
            if (kind_ == "news") return Step::waiting;
            if (kind_ == "endless") {
                out.append(100'000, 'e');
                return Step::data;
            }
            ++test_.held_;
            test_.wait_until_open();
            out += "held";
            return Step::end;
        }

    private:
        ServerWork& test_;
        std::string kind_;
    };

    ~ServerWork() override { open_ = true; }

    Handlers handlers()
    {
        return {.answer = [this](const Request& request) { return answer(request); },
                .receive =
                    [](const Request& head) {
                        Reception reception;
                        reception.client = head.parameter("client").value_or("");
                        if (head.parameter("slow")) reception.pace = Reception::Pace::slow;
                        if (head.parameter("compute")) reception.pace = Reception::Pace::compute;
                        if (head.parameter("receive")) reception.pace = Reception::Pace::receive;
                        return reception;
                    }};
    }

    Response answer(const Request& request)
    {
        const auto& path = request.path.at(0);
        note_thread();
        *order_.lock() += request.parameter("client").value_or("-");
        if (path == "hold") {
            ++held_;
            wait_until_open();
        }
        if (path == "held" || path == "spun" || path == "news" || path == "endless") {
            Response response;
            response.stream = std::make_unique<Source>(*this, path);
            return response;
        }
        if (path == "spin") {
            ++held_;
            Result<> go_on;
            while ((go_on = check_work()))
                std::this_thread::sleep_for(1ms);
            ended_by_.lock()->emplace_back(to_string(go_on.error().kind()));
            return error_response(go_on.error());
        }
        return json_response(Json(path));
    }

    void note_thread() { threads_.lock()->insert(thread_name()); }
    void wait_until_open() const
    {
        while (!open_)
            std::this_thread::sleep_for(1ms);
    }
    static std::string get(const std::string& target)
    {
        return "GET /" + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    }

    std::atomic<bool> open_ = false;
    std::atomic<int> held_ = 0;
    std::atomic<int> gone_ = 0;
    Synced<std::string> order_;
    Synced<std::set<std::string>> threads_;
    Synced<std::vector<std::string>> ended_by_;
};

}  // namespace ponk::net
