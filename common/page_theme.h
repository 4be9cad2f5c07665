// The style shared by all of radlc's pages: the plan and the report as HTML files, and the service's page.
#pragma once

#include <string_view>

namespace radl {

// CSS: color variables (light and dark; always light on paper), type, and the document layout for `<body
// class="doc">`: a `.result` at the top, tables, `.num` cells with aligned digits, scaled drawings.
std::string_view page_theme();

}  // namespace radl
