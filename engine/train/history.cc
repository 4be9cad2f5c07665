#include "engine/train/history.h"

#include <nlohmann/json.hpp>

#include "common/json_values.h"

namespace radl::engine {

namespace {

using Json = nlohmann::ordered_json;

double number(const Json& value) {
  if (std::optional<double> read = json::read_number(value)) return *read;
  return value.get<double>();  // throws: it is no number
}

}  // namespace

std::string write_history(const History& history) {
  Json curve = Json::array(), peers = Json::array();
  for (const CurvePoint& p : history.curve) {
    curve.push_back(
        {p.epoch, p.step, p.seconds, p.train_loss, p.train_accuracy, p.test_loss, p.test_accuracy, p.rate});
  }
  for (const PeerEvent& e : history.peers) peers.push_back({e.seconds, e.kind, e.peer, e.text});
  Json out = {{"curve", curve},
              {"peers", peers},
              {"seconds", history.seconds},
              {"images", history.images},
              {"train_loss", history.train_loss},
              {"train_accuracy", history.train_accuracy},
              {"runs", history.runs}};
  json::spell_non_finite(out);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<History> read_history(const std::string& json) {
  try {
    Json in = Json::parse(json);
    History out;
    for (const Json& p : in.at("curve")) {
      out.curve.push_back({number(p.at(0)), p.at(1), number(p.at(2)), number(p.at(3)), number(p.at(4)),
                           number(p.at(5)), number(p.at(6)), number(p.at(7))});
    }
    for (const Json& e : in.at("peers")) out.peers.push_back({number(e.at(0)), e.at(1), e.at(2), e.at(3)});
    out.seconds = number(in.at("seconds"));
    out.images = in.at("images");
    out.train_loss = number(in.at("train_loss"));
    out.train_accuracy = number(in.at("train_accuracy"));
    out.runs = in.at("runs");
    return out;
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("the run's numbers in the checkpoint: ") + error.what());
  }
}

}  // namespace radl::engine
