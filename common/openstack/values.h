// JSON accessors for the services' responses (common/json_values.h).
#pragma once

#include "common/json_values.h"

namespace radl::openstack {

using json::flag_of;
using json::list_of;
using json::member;
using json::number_of;
using json::parse_json;
using json::text_of;

}  // namespace radl::openstack
