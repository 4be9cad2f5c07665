// /infrastructures/{inf}/vms/...
#pragma once

#include "runtime/serve/im_call.h"
#include "runtime/serve/infrastructure.h"

namespace radl::serve {

httpd::Answer machine_uris(const ImCall& call, const Infrastructure& inf,
                           const std::vector<Machine>& machines);
httpd::Answer with_machine(ImCall& call, Infrastructure& inf);

}  // namespace radl::serve
