// Escapes untrusted text for generated pages.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// Escapes for element content and quoted attribute values of HTML and SVG (HTML Living Standard, 13.3).
std::string escape_html(std::string_view text);

// Escapes for a line of GitHub's and GitLab's Markdown (GFM 6.1, 6.6): no markup, links, mentions or ends of
// table cells. Line breaks become spaces. Also escapes HTML, which Markdown allows.
std::string escape_markdown(std::string_view text);

// Returns a code span with the exact text. Safe in a table cell.
std::string markdown_code(std::string_view text);

}  // namespace radl
