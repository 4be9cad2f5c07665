// The three files that a process is started with.
#pragma once

namespace radl {

// Where standard input, output or error is closed, something takes its number that can neither be read nor
// written: no file or connection that is opened later gets it, and with it what is meant for a terminal.
// First of all in main().
void hold_standard_files();

}  // namespace radl
