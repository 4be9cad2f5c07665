// http::Client without a network: the answers are an input's bytes. A fuzzer that is built with
// scripted_http.cc has this one in place of libcurl's (tests/fuzz/CMakeLists.txt, SCRIPTED_HTTP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/status.h"
#include "common/stop.h"

namespace radl::fuzz {

// What stands in every credential that a fuzzer gives: no message may have it.
inline constexpr std::string_view kSecret = "SENTINEL0f0e0d0c";

// Answers are divided by the byte 0x1E. Each is a byte that chooses the status, lines `name: value`, an empty
// line, the body. Behind the last one nothing is reached any more.
void script(const uint8_t* data, size_t size);

// Time is over: nobody sleeps between attempts.
Stop no_waiting();

// Traps when a message has the secret. What drives a terminal is taken out where it is shown.
void look_at(const Status& status);

}  // namespace radl::fuzz
