// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

namespace ponk {

// A value and the mutex that guards it, as one object: there is no way to reach the value without
// holding the lock. `synced.lock()->member` for one call, or keep the guard for a few.
template <class T>
class Synced {
public:
    class Guard {
    public:
        Guard(std::mutex& mutex, T& value) : lock_(mutex), value_(&value) {}
        T* operator->() const { return value_; }
        T& operator*() const { return *value_; }
        // For condition variables.
        std::unique_lock<std::mutex>& native() { return lock_; }

    private:
        std::unique_lock<std::mutex> lock_;
        T* value_;
    };

    Synced() = default;
    explicit Synced(T value) : value_(std::move(value)) {}
    Synced(const Synced&) = delete;
    Synced& operator=(const Synced&) = delete;

    [[nodiscard]] Guard lock() { return Guard(mutex_, value_); }

private:
    std::mutex mutex_;
    T value_{};
};

}  // namespace ponk
