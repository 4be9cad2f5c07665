// The server's responses, as text.
#pragma once

#include <span>
#include <string>

#include "common/http_server/server.h"
#include "common/status.h"
#include "engine/serve/predictor.h"

namespace radl::engine::serve {

using httpd::Answer;

// Adds Retry-After for 503.
Answer error_answer(int status, const std::string& text);
// 413 for Quota (request too large), 503 for Retry (overloaded), otherwise 400.
Answer error_answer(const Status& status);
Answer health_answer(const exporter::Bundle& bundle);
Answer predictions_answer(const exporter::Bundle& bundle, std::span<const Prediction> predictions);
// Upper limit of the size of predictions_answer().
size_t predictions_bytes(const exporter::Bundle& bundle, size_t images);

}  // namespace radl::engine::serve
