// Status and Result: how a library reports failures.
//
// A code says what the caller can do; the text says what happened and what to do. A user's mistake in a
// source file is a Diagnostic (compiler/diag), not a Status.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace radl {

enum class Code {
  Ok,
  Invalid,      // the request is wrong: do not repeat it unchanged
  NotFound,     // what was named does not exist
  Exists,       // what was to be created already exists
  Conflict,     // changed or held by another process
  Auth,         // credentials refused, or a host key that does not match
  Quota,        // a limit of the provider or of this computer (disk full, memory)
  Retry,        // a transient fault: the same call may succeed later
  Timeout,      // a deadline passed
  Cancelled,    // the user requested a stop
  Lost,         // the request was sent and its response is unknown: check before you repeat it
  Corrupt,      // stored bytes are invalid
  Unsupported,  // not possible on this machine, with this provider or in this build
  Internal,     // a bug in this program
};

std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // One line that says what the user can do; may be empty.
  const std::string& hint() const { return hint_; }

  // Returns by value, like at(), so that `x = std::move(x).with_hint(..)` keeps x. Returning a reference
  // would empty it.
  Status with_hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }
  // Prefixes the message with its context: "worker[0]: <message>".
  Status at(std::string_view where) && {
    message_.insert(0, std::string(where) + ": ");
    return std::move(*this);
  }
  // "message (hint)", for one line of output.
  std::string text() const { return hint_.empty() ? message_ : message_ + " (" + hint_ + ")"; }

 private:
  Code code_ = Code::Ok;
  std::string message_;
  std::string hint_;
};

inline Status ok_status() { return {}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<1>, std::move(value)) {}
  Result(Status status) : held_(std::in_place_index<0>, std::move(status)) {
    assert(!std::get<0>(held_).ok());
  }

  bool ok() const { return held_.index() == 1; }
  explicit operator bool() const { return ok(); }
  const Status& status() const& {
    static const Status fine;
    return ok() ? fine : std::get<0>(held_);
  }
  Status status() && { return ok() ? Status() : std::move(std::get<0>(held_)); }

  T& value() & {
    assert(ok());
    return std::get<1>(held_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<1>(held_);
  }
  T value() && {
    assert(ok());
    return std::move(std::get<1>(held_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> held_;
};

inline Status invalid(std::string m) { return {Code::Invalid, std::move(m)}; }
inline Status not_found(std::string m) { return {Code::NotFound, std::move(m)}; }
inline Status internal_error(std::string m) { return {Code::Internal, std::move(m)}; }

}  // namespace radl
