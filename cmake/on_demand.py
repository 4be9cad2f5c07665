#!/usr/bin/env python3
"""Writes assembly (x86-64, GNU as) that stands in for a shared library: each of its functions under its own name, which
loads the library and looks the function up at its first call. A program that links this in place of the library starts
without it. Usage: on_demand.py LIBRARY.so OUTPUT.s [FUNCTION...]: those are left out, as the program has them from elsewhere.

Each function has sections of its own, so that the linker (--gc-sections) drops those that the program does not call.
Names are hidden: a library that is loaded finds its own functions, never these. They are weak: an archive may have them, too. Registers follow the System V ABI for
AMD64, section 3.2.3: what may hold an argument is kept, %al (of variadic functions) and %xmm0 to %xmm7 included; %r11
belongs to nobody between a call and its function.
"""
import os
import re
import subprocess
import sys

FUNCTION = """
  .section .text.on_demand.{name},"ax",@progbits
  .weak {name}
  .hidden {name}
  .type {name}, @function
{name}:
  endbr64
  movq .Lslot.{name}(%rip), %r11
  testq %r11, %r11
  je 1f
  jmp *%r11
1:
  pushq %r10
  leaq .Lname.{name}(%rip), %r10
  leaq .Lslot.{name}(%rip), %r11
  jmp .Lresolve
  .size {name}, .-{name}
  .section .rodata.on_demand.{name},"a",@progbits
.Lname.{name}:
  .string "{name}"
  .section .bss.on_demand.{name},"aw",@nobits
  .balign 8
.Lslot.{name}:
  .zero 8
"""

# %r10: the function's name, %r11: where its address is kept; the stack: the caller's %r10 and return address.
KEPT = ["rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r11"]
RESOLVE = """
  .section .rodata.on_demand,"a",@progbits
.Llibrary:
  .string "{library}"
  .section .text.on_demand,"ax",@progbits
.Lresolve:
  pushq %rbp
  movq %rsp, %rbp
  subq $192, %rsp
  andq $-16, %rsp
{save}
  leaq .Llibrary(%rip), %rdi
  movq %r10, %rsi
  call radl_load_function@PLT
  movq 184(%rsp), %r11
  movq %rax, (%r11)
{restore}
  movq (%r11), %r11
  leave
  popq %r10
  jmp *%r11
  .section .note.GNU-stack,"",@progbits
"""


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def functions(path):
    """The names that a program may link: of the default version, where a name has several."""
    names = set()
    for line in output_of("nm", "-D", "--defined-only", path).splitlines():
        found = re.fullmatch(r"[0-9a-f]+ [TWi] ([A-Za-z_][A-Za-z0-9_]*)(@@\S+)?", line)
        if found and found[1] not in ("_init", "_fini"):
            names.add(found[1])
    return sorted(names)


def main():
    path, output, *elsewhere = sys.argv[1:]
    soname = re.search(r"SONAME\s+(\S+)", output_of("objdump", "-p", path))
    names = [name for name in functions(path) if name not in elsewhere]
    if soname is None or not names:
        sys.exit("%s: no shared library with functions" % path)
    offsets = [(name, 128 + 8 * i) for i, name in enumerate(KEPT[:-1])] + [("r11", 184)]
    save = ["  movq %%%s, %d(%%rsp)" % each for each in offsets]
    save += ["  movups %%xmm%d, %d(%%rsp)" % (i, 16 * i) for i in range(8)]
    restore = ["  movups %d(%%rsp), %%xmm%d" % (16 * i, i) for i in range(8)]
    restore += ["  movq %d(%%rsp), %%%s" % (at, name) for name, at in offsets]
    with open(output, "w") as file:
        file.write("# Made by cmake/on_demand.py of %s.\n" % path)
        for name in names:
            file.write(FUNCTION.format(name=name))
        file.write(RESOLVE.format(library=soname[1], save="\n".join(save), restore="\n".join(restore)))


main()
