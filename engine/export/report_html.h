// A run's report.json (docs/training.md) as one HTML page: no script, no outside file, every text escaped.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::engine::exporter {

// Corrupt, with `name`, when the text is no report; parts that it lacks are left out.
Result<std::string> report_html(std::string_view report_json, const std::string& name);

// Whether report_html() wrote it.
bool is_report_html(std::string_view page);

}  // namespace radl::engine::exporter
