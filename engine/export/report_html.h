// Renders report.json (docs/training.md) as a self-contained HTML page without scripts. Escapes all text.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::engine::exporter {

// Corrupt, naming `name`: the text is not a report. Omits missing parts.
Result<std::string> report_html(std::string_view report_json, const std::string& name);

// True if report_html() wrote the page.
bool is_report_html(std::string_view page);

}  // namespace radl::engine::exporter
