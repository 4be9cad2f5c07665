// Formats names and numbers of machine-readable reports for people.
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
// Integers without a decimal point, other numbers with at most six digits: "4", "0.125".
std::string plain_number(double value);
// A requested size: "4 GiB", "1.5 TiB".
std::string size_text(double bytes);

// "data_wait_seconds" -> "waiting for data". An unknown key loses its underscores and its unit.
std::string human_label(std::string_view key);
// Formats `number` with the unit that `key` implies, and only significant digits.
std::string human_number(std::string_view key, double number);

}  // namespace radl
