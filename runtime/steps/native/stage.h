// Copies a script's prerequisites to the node before it runs.
#pragma once

#include "runtime/steps/native/resource.h"

namespace radl::native {

// A file, given content, or (a folder with a list of names) an archive of these.
Status stage(Remote& remote, const Staged& staged, const Stop& stop);

}  // namespace radl::native
