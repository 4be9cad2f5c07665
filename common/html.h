// Text of others in pages of ours.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// For element content and quoted attribute values, of HTML and SVG (HTML Living Standard, 13.3).
std::string escape_html(std::string_view text);

// For a line of GitHub's and GitLab's Markdown (GFM 6.1, 6.6): nothing of it is markup, a link, a mention or
// a cell's end; line breaks become spaces. Markdown takes HTML, so that is escaped as well.
std::string escape_markdown(std::string_view text);

// A code span that shows the text as it is, also in a cell of a table.
std::string markdown_code(std::string_view text);

}  // namespace radl
