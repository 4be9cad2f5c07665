// Shortens text for messages, names and tags. Limits are in bytes. Never splits a UTF-8 character; invalid
// bytes count as characters.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The longest prefix and the longest suffix of at most `most` bytes.
std::string_view beginning_of(std::string_view text, size_t most);
std::string_view end_of(std::string_view text, size_t most);

// Returns the text, or if it exceeds `most` bytes, a prefix and "..." of at most `most` bytes in total.
// `most` must be at least 3.
std::string shorten(std::string_view text, size_t most);

}  // namespace radl
