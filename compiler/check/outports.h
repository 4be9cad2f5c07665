// The text of `outports`: "22/tcp,8080-80,9000:9010/udp,10.0.0.0/8-5000". One reader for the check and the
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

// One item of a string without fault. Numbers beyond all ports are kOutportsBeyond.
inline constexpr int kOutportsBeyond = 65536;
struct OutportsItem {
  size_t begin, end;      // in the text
  std::string_view cidr;  // empty: from everywhere
  std::string_view protocol = "tcp";
  int remote = 0, remote_end = 0;  // outside; one port: both are the same
  int local = 0, local_end = 0;    // on the node; of a range: the same as outside
  bool second_range = false;       // a range stands beside a `-`: ranges are not mapped

  // Whether there are such ports: up to 65535, the smaller one first.
  bool possible() const {
    return remote <= remote_end && local <= local_end && remote_end < kOutportsBeyond &&
           local_end < kOutportsBeyond;
  }
  // Who may connect: "0.0.0.0/0", "10.1.0.0/16" also of 10.1.2.3/16. nullopt: there are no such addresses.
  std::optional<std::string> source() const;
};
std::vector<OutportsItem> outports_items(std::string_view text);

}  // namespace radl::sema
