// Text that is too long for a message, a name or a tag. Limits are in bytes; no character of UTF-8 is cut in
// two. Bytes that are not UTF-8 count as characters.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The longest beginning and the longest end of at most `most` bytes.
std::string_view beginning_of(std::string_view text, size_t most);
std::string_view end_of(std::string_view text, size_t most);

// The text, or if it has more than `most` bytes, its beginning and "...", together at most `most` bytes.
// `most` is at least 3.
std::string shorten(std::string_view text, size_t most);

}  // namespace radl
