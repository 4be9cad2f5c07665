// A process between us and a program, which ends the program and all that descends from it when we are gone.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace radl {

// Between fork and exec, in the child. Returns in a new process that is to become the program. The child
// itself never returns: it ends as the program ends (128+n for signal n), or, as soon as the other end of the
// pipe `lifeline` is closed by whatever (also kill -9), ends everything below it: TERM, after 2 s KILL. What
// descends from the program and has made a session of its own is below it too. Async-signal-safe.
void become_guarded(int lifeline);

// Which memory of this process and its children a core file may hold: a mask in hex, core(5).
// Async-signal-safe.
void set_core_filter(std::string_view mask);

// Closes all descriptors from 3 on but these two. Async-signal-safe.
void close_descriptors_but(int one, int other);

}  // namespace radl
