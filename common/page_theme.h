// The look that every page of radlc shares: the plan and the report as HTML files, and the service's page.
#pragma once

#include <string_view>

namespace radl {

// CSS: colors as variables (light and dark, always light on paper), type, and for `<body class="doc">` the
// layout of a document: a `.result` on top, tables, `.num` cells with aligned digits, drawings that fit.
std::string_view page_theme();

}  // namespace radl
