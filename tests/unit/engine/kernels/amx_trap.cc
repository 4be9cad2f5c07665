#include "amx_trap.h"

#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "engine/kernels/own/amx_emulation.h"

namespace radl::engine {

namespace {

using own::AmxEmulation;

std::atomic<long> instructions{0};

[[noreturn]] void stop(std::string_view why) {
  if (::write(STDERR_FILENO, why.data(), why.size()) < 0 || ::write(STDERR_FILENO, "\n", 1) < 0) std::abort();
  std::abort();
}

// An instruction with a three-byte VEX prefix.
struct Decoded {
  const uint8_t* next;                  // the instruction after it
  int map, prefix, wide, length, vvvv;  // mmmmm, pp, W, L, and the third register
  uint8_t opcode;
  bool memory;
  int reg, rm;        // registers (rm: without memory)
  uint64_t base = 0;  // address without the index
  bool indexed = false;
  uint64_t index = 0;  // scaled
};

uint64_t general_register(const mcontext_t& m, int number) {
  static constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(m.gregs[kOrder[number]]);
}

template <class T>
T take(const uint8_t*& at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  at += sizeof v;
  return v;
}

void decode_memory(const mcontext_t& m, const uint8_t*& at, int mod, int rm, int x, int b, Decoded& d) {
  bool relative = false, no_base = false;
  if (rm == 4) {
    const uint8_t sib = take<uint8_t>(at);
    const int index = (sib >> 3 & 7) | x << 3, base = (sib & 7) | b << 3;
    if ((d.indexed = index != 4)) d.index = general_register(m, index) << (sib >> 6);
    no_base = (sib & 7) == 5 && mod == 0;
    if (!no_base) d.base = general_register(m, base);
  } else if (rm == 5 && mod == 0) {
    relative = true;
  } else {
    d.base = general_register(m, rm | b << 3);
  }
  if (mod == 1) d.base += static_cast<int64_t>(take<int8_t>(at));
  if (mod == 2 || relative || no_base) d.base += static_cast<int64_t>(take<int32_t>(at));
  if (relative) d.base += reinterpret_cast<uint64_t>(at);
}

Decoded decode(const mcontext_t& m) {
  const uint8_t* at = reinterpret_cast<const uint8_t*>(m.gregs[REG_RIP]);
  if (*at++ != 0xc4) stop("SIGILL: no AMX instruction");
  const uint8_t first = *at++, second = *at++;
  Decoded d{};
  d.map = first & 31;
  d.wide = second >> 7, d.vvvv = ~second >> 3 & 15, d.length = second >> 2 & 1, d.prefix = second & 3;
  d.opcode = *at++;
  const uint8_t modrm = *at++;
  const int mod = modrm >> 6, r = !(first >> 7 & 1), x = !(first >> 6 & 1), b = !(first >> 5 & 1);
  d.reg = (modrm >> 3 & 7) | r << 3;
  d.memory = mod != 3;
  if (d.memory)
    decode_memory(m, at, mod, modrm & 7, x, b, d);
  else
    d.rm = (modrm & 7) | b << 3;
  d.next = at;
  return d;
}

void execute(const Decoded& d) {
  enum { kNone, k66, kF3, kF2 };
  if (d.map != 2 || d.wide || d.length) stop("SIGILL: no AMX instruction");
  const int kind = d.opcode << 8 | d.prefix;
  const bool unused = d.vvvv == 0;
  if (kind == (0x49 << 8 | kNone) && d.memory && d.reg == 0 && unused && !d.indexed) {
    own::TileConfig config;
    std::memcpy(&config, reinterpret_cast<const void*>(d.base), sizeof config);
    AmxEmulation::configure(config);
  } else if (kind == (0x49 << 8 | kNone) && !d.memory && d.reg == 0 && d.rm == 0 && unused) {
    AmxEmulation::release();
  } else if (kind == (0x49 << 8 | kF2) && !d.memory && d.rm == 0 && unused) {
    AmxEmulation::zero(d.reg);
  } else if (kind == (0x4b << 8 | kF2) && d.memory && d.indexed && unused) {
    AmxEmulation::load(d.reg, reinterpret_cast<const void*>(d.base), d.index);
  } else if (kind == (0x4b << 8 | kF3) && d.memory && d.indexed && unused) {
    AmxEmulation::store(d.reg, reinterpret_cast<void*>(d.base), d.index);
  } else if (kind == (0x5c << 8 | kF3) && !d.memory) {
    AmxEmulation::dot(d.reg, d.rm, d.vvvv);
  } else {
    stop("SIGILL: an AMX instruction that the kernels do not use, or another one");
  }
}

void handle(int, siginfo_t*, void* context) {
  mcontext_t& m = static_cast<ucontext_t*>(context)->uc_mcontext;
  try {
    const Decoded d = decode(m);
    execute(d);
    m.gregs[REG_RIP] = reinterpret_cast<greg_t>(d.next);
    ++instructions;
  } catch (const own::AmxFault& fault) {
    stop(fault.what());
  }
}

}  // namespace

AmxTrap::AmxTrap() {
  if (!on_) return;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGILL, &action, &before_);
}

AmxTrap::~AmxTrap() {
  if (on_) ::sigaction(SIGILL, &before_, nullptr);
}

long AmxTrap::count() { return instructions; }

}  // namespace radl::engine
