// Values that a test needs. After EXPECT_TRUE(result.ok()) alone, a test continues without its value and ends
// in an assertion of common/status.h or a segmentation fault, which hides the cause.
#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <utility>

#include "common/status.h"

namespace radl::test {

// Reports a failure and leaves the test. Works in helpers, too, and in a thread of std::async, whose get()
// passes it on.
[[noreturn]] inline void give_up(const std::string& why,
                                 std::source_location where = std::source_location::current()) {
  const int line = static_cast<int>(where.line());
  ADD_FAILURE_AT(where.file_name(), line) << why;
  throw testing::AssertionException(
      testing::TestPartResult(testing::TestPartResult::kFatalFailure, where.file_name(), line, why.c_str()));
}

inline void need(const Status& status, std::source_location where = std::source_location::current()) {
  if (!status.ok()) give_up(status.text(), where);
}

// The value, or the end of the test with the reason.
template <class T>
T need(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result.ok()) give_up(result.status().text(), where);
  return std::move(*result);
}

}  // namespace radl::test
