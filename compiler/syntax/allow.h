// Comments that silence a warning in place:
//
//   price = 0.05 and  # radl: allow W0301          this line
//   # radl: allow W0306, W0305                     on a line of its own: the next line that says something
//   # radl: allow-file W0308                       the whole file
#pragma once

#include "compiler/diag/diagnostic.h"

namespace radl {

// Passes the file's `allow` comments to `diagnostics`. Reports codes that are unknown or errors.
void find_allows(const SourceFile& source, Diagnostics& diagnostics);

}  // namespace radl
