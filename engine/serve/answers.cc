#include "engine/serve/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace radl::engine::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// JSON has no word for what is not finite.
void append_number(std::string& out, float value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out), "{}", value);
  else
    out += "null";
}

}  // namespace

Answer error_answer(int status, const std::string& text) {
  Answer answer{.status = status, .body = text_of({{"error", text}}) + "\n"};
  if (status == 503) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

Answer error_answer(const Status& status) {
  const int code = status.code() == Code::Quota ? 413 : status.code() == Code::Retry ? 503 : 400;
  return error_answer(code, status.message());
}

Answer health_answer(const exporter::Bundle& b) {
  return {.body = text_of({{"status", "ok"},
                           {"model", b.name},
                           {"classes", b.classes},
                           {"class_names", b.class_names},
                           {"input", {b.input.height, b.input.width, b.input.channels}}}) +
                  "\n"};
}

// Written as it goes: a tree of so many numbers would take many times the text.
Answer predictions_answer(const exporter::Bundle& bundle, std::span<const Prediction> predictions) {
  std::string out = "{\"model\":" + text_of(bundle.name) + ",\"predictions\":[";
  for (size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& p = predictions[i];
    fmt::format_to(std::back_inserter(out),
                   "{}{{\"class\":{},\"label\":{},\"probability\":", i > 0 ? "," : "", p.best,
                   text_of(exporter::class_label(bundle, p.best)));
    append_number(out, p.probabilities[size_t(p.best)]);
    out += ",\"probabilities\":[";
    for (size_t c = 0; c < p.probabilities.size(); ++c) {
      if (c > 0) out += ',';
      append_number(out, p.probabilities[c]);
    }
    out += "]}";
  }
  return {200, out + "]}\n"};
}

size_t predictions_bytes(const exporter::Bundle& bundle, size_t images) {
  constexpr size_t kNumber = 16, kRest = 128, kEscaped = 6;  // "1.17549435e-38,", and the text around
  size_t label = 32;
  for (const std::string& name : bundle.class_names) label = std::max(label, kEscaped * name.size());
  return kRest + kEscaped * bundle.name.size() + images * (kRest + label + kNumber * size_t(bundle.classes));
}

}  // namespace radl::engine::serve
