#include <png.h>

#include <cstdio>
#include <cstring>

#include "engine/data/image.h"

namespace radl::engine::data {
namespace {

// libpng reports errors by longjmp, which must not cross C++ objects: everything that it touches lives here,
// and the functions that set a jump target hold nothing with a destructor.
struct PngRead {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* data = nullptr;
  size_t left = 0;
  char error[128] = "";
  std::vector<png_bytep>* rows = nullptr;
  int channels = 0;
  uint64_t largest = 0;
  png_uint_32 width = 0, height = 0;

  ~PngRead() {
    if (png) png_destroy_read_struct(&png, &info, nullptr);
  }
};

template <class T>
void on_error(png_structp png, png_const_charp text) {
  auto* context = static_cast<T*>(png_get_error_ptr(png));
  std::strncpy(context->error, text, sizeof context->error - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, size_t n) {
  auto* r = static_cast<PngRead*>(png_get_io_ptr(png));
  if (n > r->left) png_error(png, "cut off");
  std::memcpy(to, r->data, n);
  r->data += n;
  r->left -= n;
}

bool read_header(PngRead& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r, on_read);
  png_set_user_limits(r.png, 1u << 24, 1u << 24);
  png_set_chunk_malloc_max(r.png, 8u << 20);
  png_read_info(r.png, r.info);
  r.width = png_get_image_width(r.png, r.info);
  r.height = png_get_image_height(r.png, r.info);
  if (uint64_t(r.width) * r.height > r.largest) {
    std::snprintf(r.error, sizeof r.error, "%u x %u: more pixels than the %llu allowed", r.width, r.height,
                  static_cast<unsigned long long>(r.largest));
    return false;
  }
  png_set_expand(r.png);
  png_set_scale_16(r.png);
  png_color_16 black{};
  png_set_background(r.png, &black, PNG_BACKGROUND_GAMMA_SCREEN, 0, 1.0);
  png_set_strip_alpha(r.png);
  if (r.channels == 3)
    png_set_gray_to_rgb(r.png);
  else
    png_set_rgb_to_gray(r.png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  if (png_get_rowbytes(r.png, r.info) != size_t(r.width) * size_t(r.channels))
    png_error(r.png, "unexpected row length");
  return true;
}

bool read_rows(PngRead& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, r.rows->data());
  png_read_end(r.png, nullptr);
  return true;
}

struct PngWrite {
  png_structp png = nullptr;
  png_infop info = nullptr;
  char error[128] = "";
  std::string* out = nullptr;
  ~PngWrite() {
    if (png) png_destroy_write_struct(&png, &info);
  }
};

void on_write(png_structp png, png_bytep data, size_t n) {
  static_cast<PngWrite*>(png_get_io_ptr(png))->out->append(reinterpret_cast<char*>(data), n);
}

bool write_rows(PngWrite& w, int height, int width, int channels, const uint8_t* pixels) {
  if (setjmp(png_jmpbuf(w.png))) return false;
  png_set_write_fn(w.png, &w, on_write, nullptr);
  png_set_IHDR(w.png, w.info, png_uint_32(width), png_uint_32(height), 8,
               channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  for (int y = 0; y < height; ++y)
    png_write_row(w.png, pixels + size_t(y) * size_t(width) * size_t(channels));
  png_write_end(w.png, nullptr);
  return true;
}

uint32_t big_endian(const char* at) {
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i) v = v << 8 | uint8_t(at[i]);
  return v;
}

}  // namespace

// Signature (8 bytes), then the IHDR chunk: length, name, width, height, bit depth, colour type.
Result<ImageInfo> inspect_png(std::string_view bytes) {
  if (bytes.size() < 26 || bytes.substr(12, 4) != "IHDR") return Status(Code::Corrupt, "PNG: cut off");
  const uint32_t width = big_endian(bytes.data() + 16), height = big_endian(bytes.data() + 20);
  const int type = uint8_t(bytes[25]);
  if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
    return Status(Code::Corrupt, "PNG: has no size");
  return ImageInfo{int(height), int(width), type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_GRAY_ALPHA,
                   false};
}

Result<Image> decode_png(std::string_view bytes, const DecodeLimits& limits) {
  PngRead r;
  r.data = bytes.data();
  r.left = bytes.size();
  r.channels = limits.channels == 1 ? 1 : 3;
  r.largest = limits.largest;
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error<PngRead>, on_warning);
  if (r.png) r.info = png_create_info_struct(r.png);
  if (!r.info) return Status(Code::Quota, "no memory for a PNG");
  if (!read_header(r)) return Status(Code::Corrupt, std::string("PNG: ") + r.error);
  Image p{int(r.height), int(r.width), r.channels, {}};
  const size_t row = size_t(r.width) * size_t(r.channels);
  if (limits.admit) {
    const Status s = limits.admit(uint64_t(r.width) * r.height, (row + sizeof(png_bytep)) * r.height);
    if (!s.ok()) return s;
  }
  p.pixels.resize(row * r.height);
  std::vector<png_bytep> rows(r.height);
  for (size_t y = 0; y < r.height; ++y) rows[y] = p.pixels.data() + y * row;
  r.rows = &rows;
  if (!read_rows(r)) return Status(Code::Corrupt, std::string("PNG: ") + r.error);
  return p;
}

Result<std::string> encode_png(int height, int width, int channels, std::span<const uint8_t> pixels) {
  if (height < 1 || width < 1 || (channels != 1 && channels != 3) ||
      pixels.size() != size_t(height) * size_t(width) * size_t(channels)) {
    return invalid("a PNG needs 1 or 3 channels and height x width x channels bytes");
  }
  std::string out;
  PngWrite w;
  w.out = &out;
  w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error<PngWrite>, on_warning);
  if (w.png) w.info = png_create_info_struct(w.png);
  if (!w.info) return Status(Code::Quota, "no memory for a PNG");
  if (!write_rows(w, height, width, channels, pixels.data()))
    return internal_error(std::string("PNG: ") + w.error);
  return out;
}

}  // namespace radl::engine::data
