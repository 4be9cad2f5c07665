#include "engine/train/history.h"

#include <nlohmann/json.hpp>

namespace radl::engine {

using Json = nlohmann::ordered_json;

std::string write_history(const History& history) {
  Json curve = Json::array(), peers = Json::array();
  for (const CurvePoint& p : history.curve) {
    curve.push_back(
        {p.epoch, p.step, p.seconds, p.train_loss, p.train_accuracy, p.test_loss, p.test_accuracy, p.rate});
  }
  for (const PeerEvent& e : history.peers) peers.push_back({e.seconds, e.kind, e.peer, e.text});
  return Json{{"curve", curve},
              {"peers", peers},
              {"seconds", history.seconds},
              {"images", history.images},
              {"train_loss", history.train_loss},
              {"train_accuracy", history.train_accuracy},
              {"runs", history.runs}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<History> read_history(const std::string& json) {
  try {
    Json in = Json::parse(json);
    History out;
    for (const Json& p : in.at("curve")) {
      out.curve.push_back({p.at(0), p.at(1), p.at(2), p.at(3), p.at(4), p.at(5), p.at(6), p.at(7)});
    }
    for (const Json& e : in.at("peers")) out.peers.push_back({e.at(0), e.at(1), e.at(2), e.at(3)});
    out.seconds = in.at("seconds");
    out.images = in.at("images");
    out.train_loss = in.at("train_loss");
    out.train_accuracy = in.at("train_accuracy");
    out.runs = in.at("runs");
    return out;
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("the run's numbers in the checkpoint: ") + error.what());
  }
}

}  // namespace radl::engine
