#include "runtime/farm/spec.h"

#include <mutex>

namespace radl::farm {

struct Spec::Held {
  std::shared_ptr<const std::string> whole;
  std::string_view text;  // empty: `json` was given
  std::once_flag parsed;
  Json json;
};

Spec::Spec() {
  static const auto empty = [] {
    auto held = std::make_shared<Held>();
    held->json = Json::object();
    return held;
  }();
  held_ = empty;
}

Spec::Spec(Json json) : held_(std::make_shared<Held>()) { held_->json = std::move(json); }
Spec::Spec(Json::initializer_list_t of) : Spec(Json(of)) {}

Spec::Spec(std::shared_ptr<const std::string> whole, std::string_view text)
    : held_(std::make_shared<Held>()) {
  held_->whole = std::move(whole);
  held_->text = text;
}

const Json& Spec::json() const {
  if (!held_->text.empty())
    std::call_once(held_->parsed, [this] {
      held_->json = Json::parse(held_->text.begin(), held_->text.end(), nullptr, false);
    });
  return held_->json;
}

void Spec::set(const std::string& member, Json value) {
  Json changed = json();
  changed[member] = std::move(value);
  *this = Spec(std::move(changed));
}

std::string Spec::text() const {
  return held_->text.empty() ? held_->json.dump(-1, ' ', false, Json::error_handler_t::replace)
                             : std::string(held_->text);
}

}  // namespace radl::farm
