// Parser for `outports`: "22/tcp,8080-80,9000:9010/udp,10.0.0.0/8-5000". Shared by the check and the
// compiler.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::sema {

// The first fault of an `outports` value: a byte range of the text and a message. Returns nullopt for a valid
// value. `lenient` accepts spaces around items.
struct OutportsFault {
  size_t begin, end;
  std::string message;
};
std::optional<OutportsFault> outports_fault(std::string_view text, bool lenient);

// One item of a valid string. Numbers above the largest port become kOutportsBeyond.
inline constexpr int kOutportsBeyond = 65536;
struct OutportsItem {
  size_t begin, end;      // in the text
  std::string_view cidr;  // empty: any address
  std::string_view protocol = "tcp";
  int remote = 0, remote_end = 0;  // outside; equal for a single port
  int local = 0, local_end = 0;    // on the node; same as outside for a range
  bool second_range = false;       // a range appears next to a `-`; ranges cannot be mapped

  // True if the ports exist: up to 65535, the smaller one first.
  bool possible() const {
    return remote <= remote_end && local <= local_end && remote_end < kOutportsBeyond &&
           local_end < kOutportsBeyond;
  }
  // Who may connect: "0.0.0.0/0", or "10.1.0.0/16" for 10.1.2.3/16. nullopt if the range is invalid.
  std::optional<std::string> source() const;
};
std::vector<OutportsItem> outports_items(std::string_view text);

}  // namespace radl::sema
