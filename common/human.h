// Names and numbers of machine-readable reports as people read them.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// "1.04 ms", "0.4 s", "12 s", "1:05 min", "2:00:05 h".
std::string duration_text(double seconds);
// "12,345".
std::string grouped(double number);
// "1 node", "2 nodes".
std::string counted(size_t count, std::string_view noun);
// "61.4 MiB".
std::string bytes_text(double bytes);
// Integers without a point, others with six digits at most: "4", "0.125".
std::string plain_number(double value);
// A size as somebody asked for it: "4 GiB", "1.5 TiB".
std::string size_text(double bytes);

// "data_wait_seconds" -> "waiting for data"; a key that is not known loses its underscores and its unit.
std::string human_label(std::string_view key);
// The number of `key` with the unit that its name says, and no more digits than mean something.
std::string human_number(std::string_view key, double number);

}  // namespace radl
