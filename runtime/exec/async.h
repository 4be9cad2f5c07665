// Coroutines for work that waits without blocking a thread. Internal to
// runtime/exec.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <utility>

namespace radl {

// The result of a coroutine. Starts at the first co_await or resume(). An exception is rethrown when the
// value is taken.
template <class T>
class [[nodiscard]] Async {
 public:
  struct promise_type {
    std::unique_ptr<T> value;  // a pointer, so that a waiting coroutine reserves no space for the result
    std::exception_ptr thrown;
    std::coroutine_handle<> caller;

    struct Return {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        std::coroutine_handle<> caller = self.promise().caller;
        return caller ? caller : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };

    Async get_return_object() { return Async(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Return final_suspend() noexcept { return {}; }
    void return_value(T given) { value = std::make_unique<T>(std::move(given)); }
    void unhandled_exception() { thrown = std::current_exception(); }
  };

  Async(Async&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Async& operator=(Async&& other) noexcept {
    if (this == &other) return *this;
    if (handle_) handle_.destroy();
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  ~Async() {
    if (handle_) handle_.destroy();
  }

  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }
  // Call once, when done.
  T take() {
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return std::move(*handle_.promise().value);
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() { return take(); }

  // Waits for the end but leaves the value for take(), so that the waiter reserves no space for it.
  auto finished() {
    struct Finished {
      Async& of;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        return of.await_suspend(caller);
      }
      void await_resume() const noexcept {}
    };
    return Finished{*this};
  }

 private:
  explicit Async(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace radl
