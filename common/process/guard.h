// A guard process ends a program and its descendants when this process dies.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace radl {

// Call in the child between fork and exec. Returns in a new process, which becomes the program. The child
// itself never returns: it exits with the program's status (128+n for signal n). If the other end of the pipe
// `lifeline` closes for any reason (even kill -9), it ends all descendants of the program, including those in
// their own session: TERM, then KILL after 2 s. Async-signal-safe.
void become_guarded(int lifeline);

// Sets which memory of this process and its children a core file may contain: a mask in hex, core(5).
// Async-signal-safe.
void set_core_filter(std::string_view mask);

// Closes all descriptors from 3 up, except these two. Async-signal-safe.
void close_descriptors_but(int one, int other);

}  // namespace radl
