// What a plan showed of a resource before an update. A cloud removes only those additions of others that the
// plan showed; later ones are left to the next plan.
#pragma once

#include <optional>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

// Stores it in an order. `fields`: the previous value of each spec field that the plan changes.
void carry_shown(Order& order, Json fields);
// nullopt: the order carries nothing, because no plan updates the resource (it is being created). Null: the
// plan does not change the field.
std::optional<Json> shown_before(const Order& order, const std::string& field);

}  // namespace radl
