// Dry runs of a document, and requests about a cloud itself.
#pragma once

#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

// Creates nothing: the machines and disks that the document asks for, by cloud.
httpd::Answer dry_run(const ImCall& call, const Document& document, const Registry& registry);
// GET /clouds/ID/images and /clouds/ID/quotas.
httpd::Answer with_cloud(ImCall& call);

}  // namespace radl::serve
