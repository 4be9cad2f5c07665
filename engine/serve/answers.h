// What the server answers, as text.
#pragma once

#include <span>
#include <string>

#include "common/http_server/server.h"
#include "common/status.h"
#include "engine/serve/predictor.h"

namespace radl::engine::serve {

using httpd::Answer;

// With Retry-After if it is 503.
Answer error_answer(int status, const std::string& text);
// 413 for Quota (too much for one request), 503 for Retry (too much at the moment), else 400.
Answer error_answer(const Status& status);
Answer health_answer(const exporter::Bundle& bundle);
Answer predictions_answer(const exporter::Bundle& bundle, std::span<const Prediction> predictions);
// At most so many bytes are predictions_answer's.
size_t predictions_bytes(const exporter::Bundle& bundle, size_t images);

}  // namespace radl::engine::serve
