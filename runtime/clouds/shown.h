// What a plan showed of a resource before the update that it asks for. A cloud removes only that of what
// others added: what came after the plan was approved is for the next plan to show.
#pragma once

#include <optional>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

// Carries it in an order. `fields`: of each field of the spec that the plan changes, its value before.
void carry_shown(Order& order, Json fields);
// nullopt: the order carries nothing, since no plan updates the resource (it is being created). Null: the
// plan leaves the field as it is.
std::optional<Json> shown_before(const Order& order, const std::string& field);

}  // namespace radl
