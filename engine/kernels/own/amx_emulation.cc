#include "engine/kernels/own/amx_emulation.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>

namespace radl::engine::own {

namespace {

constexpr int kTiles = 8, kMostRows = 16, kMostBytes = 64, kMostColumns = kMostBytes / 4;

struct Tile {
  int rows = 0, bytes = 0;
  alignas(64) uint8_t data[kMostRows][kMostBytes] = {};
};

struct Registers {
  bool configured = false;
  Tile tiles[kTiles];
};

thread_local Registers registers;

[[noreturn]] void fault(const std::string& what) { throw AmxFault("AMX: " + what); }

Tile& valid(int number) {
  if (!registers.configured) fault("no tiles are configured");
  if (number < 0 || number >= kTiles) fault("there is no tile " + std::to_string(number));
  Tile& tile = registers.tiles[number];
  if (tile.rows == 0) fault("tile " + std::to_string(number) + " has no shape");
  return tile;
}

Tile& of_words(int number) {
  Tile& tile = valid(number);
  if (tile.bytes % 4 != 0) fault("rows of tile " + std::to_string(number) + " are not whole words");
  return tile;
}

// Denormal numbers are zero, with their sign, as operands and as results.
inline float flushed(float v) { return std::fabs(v) < FLT_MIN ? std::copysign(0.0f, v) : v; }

inline float widened(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return flushed(std::bit_cast<float>(static_cast<uint32_t>(half) << 16));
}

// One row of the product: the first and the second values of the pairs are summed apart, each step a fused
// multiplication and addition; then both sums are added, and the result to what was there.
void dot_row(const uint8_t* a, const Tile& b, int columns, uint8_t* sums) {
  float first[kMostColumns] = {}, second[kMostColumns] = {};
  for (int k = 0; k < b.rows; ++k) {
    const float a0 = widened(a + 4 * k), a1 = widened(a + 4 * k + 2);
    const uint8_t* row = b.data[k];
    for (int n = 0; n < columns; ++n) {
      first[n] = flushed(std::fma(a0, widened(row + 4 * n), first[n]));
      second[n] = flushed(std::fma(a1, widened(row + 4 * n + 2), second[n]));
    }
  }
  for (int n = 0; n < columns; ++n) {
    float sum;
    std::memcpy(&sum, sums + 4 * n, sizeof sum);
    sum = flushed(flushed(sum) + flushed(first[n] + second[n]));
    std::memcpy(sums + 4 * n, &sum, sizeof sum);
  }
}

}  // namespace

void AmxEmulation::configure(const TileConfig& config) {
  if (config.palette == 0) return release();
  if (config.palette != 1) fault("there is no palette " + std::to_string(config.palette));
  for (const uint8_t byte : config.reserved)
    if (byte) fault("a reserved byte of the configuration is set");
  for (int t = kTiles; t < 16; ++t)
    if (config.rows[t] || config.row_bytes[t]) fault("the configuration has a ninth tile");
  for (int t = 0; t < kTiles; ++t) {
    if (config.rows[t] > kMostRows) fault("a tile of more than 16 rows");
    if (config.row_bytes[t] > kMostBytes) fault("a tile of rows of more than 64 bytes");
    if (!config.rows[t] != !config.row_bytes[t]) fault("a tile of rows or columns only");
  }
  if (config.start_row != 0) fault("only an interrupted load or store starts at a row");
  for (int t = 0; t < kTiles; ++t) registers.tiles[t] = {config.rows[t], config.row_bytes[t]};
  registers.configured = true;
}

void AmxEmulation::release() { registers = {}; }

bool AmxEmulation::configured() { return registers.configured; }

void AmxEmulation::zero(int tile) { std::memset(valid(tile).data, 0, sizeof(Tile::data)); }

void AmxEmulation::load(int tile, const void* from, size_t stride) {
  Tile& t = of_words(tile);
  std::memset(t.data, 0, sizeof t.data);
  for (int row = 0; row < t.rows; ++row)
    std::memcpy(t.data[row], static_cast<const uint8_t*>(from) + row * stride, t.bytes);
}

void AmxEmulation::store(int tile, void* to, size_t stride) {
  const Tile& t = of_words(tile);
  for (int row = 0; row < t.rows; ++row)
    std::memcpy(static_cast<uint8_t*>(to) + row * stride, t.data[row], t.bytes);
}

void AmxEmulation::dot(int c, int a, int b) {
  if (c == a || c == b || a == b) fault("a product of a tile with itself");
  Tile& sums = of_words(c);
  const Tile &left = of_words(a), &right = of_words(b);
  if (sums.rows != left.rows) fault("the product and its first factor have different numbers of rows");
  if (sums.bytes != right.bytes) fault("the product and its second factor have rows of different lengths");
  if (left.bytes != 4 * right.rows) fault("the factors do not fit each other");
  for (int m = 0; m < sums.rows; ++m) dot_row(left.data[m], right, sums.bytes / 4, sums.data[m]);
}

}  // namespace radl::engine::own
