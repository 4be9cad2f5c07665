// Lines of types OpenStack and EGI of the Infrastructure Manager's auth file, as settings of a cloud.
#pragma once

#include "common/openstack/settings.h"
#include "runtime/auth/auth_file.h"

namespace radl {

// Auth: a value is missing, and why. Invalid: an auth_version or host that is none.
Result<openstack::Settings> openstack_settings(const AuthFile& file, const AuthLine& line);

}  // namespace radl
