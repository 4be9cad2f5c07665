// Dry runs of documents, and requests about clouds.
#pragma once

#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

// Lists the machines and disks that the document requests, by cloud. Creates nothing.
httpd::Answer dry_run(const ImCall& call, const Document& document, const Registry& registry);
// GET /clouds/ID/images and /clouds/ID/quotas.
httpd::Answer with_cloud(ImCall& call);

}  // namespace radl::serve
