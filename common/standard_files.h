// The three standard file descriptors of a process.
#pragma once

namespace radl {

// Opens a placeholder for standard input, output or error if it is closed. Otherwise a file or connection
// opened later would get its number and receive terminal output. The placeholder can be neither read nor
// written. Call first in main().
void hold_standard_files();

}  // namespace radl
