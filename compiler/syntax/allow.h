// Comments that silence a warning in place:
//
//   price = 0.05 and  # radl: allow W0301          this line
//   # radl: allow W0306, W0305                     on a line of its own: the next line that says something
//   # radl: allow-file W0308                       the whole file
#pragma once

#include "compiler/diag/diagnostic.h"

namespace radl {

// Tells `diagnostics` what the comments of the file allow. Reports codes that do not exist or are errors.
void find_allows(const SourceFile& source, Diagnostics& diagnostics);

}  // namespace radl
