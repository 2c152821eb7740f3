#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

namespace medley::python {

namespace py = pybind11;

/// Element types that arrays may have here; images take u8, f16, bf16 and f32.
enum class Element : std::uint8_t { u8, f16, bf16, f32, f64, i8, i16, i32, i64, u16, u32, boolean };
inline constexpr std::size_t kElements = 12;

[[nodiscard]] std::int64_t size_of(Element element) noexcept;
/// The word of NumPy and PyTorch: "float32".
[[nodiscard]] const char* name_of(Element element) noexcept;
/// Throws InvalidArgument for an unknown word.
[[nodiscard]] Element element_from_name(std::string_view name);
[[nodiscard]] bool is_integer(Element element) noexcept;
[[nodiscard]] bool is_float(Element element) noexcept;

/// Where an array lives.
struct Device {
  bool cuda = false;
  int index = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

/// How to ask for an array: `name` is what errors call it. `stream` is passed to `__dlpack__` of
/// arrays on a GPU: -1 when the caller works on the producer's own stream, else the stream that the
/// caller is going to use.
struct ArrayRequest {
  const char* name = "the array";
  bool writable = false;
  std::optional<std::int64_t> stream = {};
};

/// The memory of a Python array, without a copy: through the buffer protocol where the object has
/// it, else through DLPack. Keeps the memory alive. Made and destroyed with the GIL held; the
/// numbers in it may be read without.
class Array {
 public:
  /// Throws py::type_error if the object is no array or of a type that nothing here takes.
  Array(py::handle object, const ArrayRequest& request);
  ~Array();
  Array(Array&&) noexcept;
  Array& operator=(Array&&) noexcept;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] Element element() const noexcept { return element_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  /// In bytes; may be negative, zero or no multiple of the element.
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  [[nodiscard]] std::int64_t values() const noexcept;
  /// "3x32x32"
  [[nodiscard]] std::string shape_text() const;

 private:
  struct Holder;

  void read_buffer(py::handle object, const ArrayRequest& request);
  bool read_tensor(py::handle object);
  void read_dlpack(py::handle object, const ArrayRequest& request);
  void read_capsule(const py::object& capsule, const ArrayRequest& request);

  std::unique_ptr<Holder> holder_;
  std::byte* data_ = nullptr;
  Element element_ = Element::u8;
  Device device_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
};

/// Whether the elements lie one after the other in row-major order.
[[nodiscard]] bool is_dense(const Array& array) noexcept;

/// Copies the elements to `to` in row-major order; of a CPU array. Needs no GIL.
void copy_dense(const Array& array, std::byte* to) noexcept;

/// The values of a CPU array of integers, row-major, as int64; throws py::type_error for others.
[[nodiscard]] std::vector<std::int64_t> integers(const Array& array, const char* name);

/// The values of a CPU array of floats or integers, row-major.
[[nodiscard]] std::vector<float> floats(const Array& array, const char* name);
/// The same into `to`, which has as many elements.
void copy_floats(const Array& array, const char* name, std::span<float> to);
[[nodiscard]] std::vector<double> doubles(const Array& array, const char* name);

/// "float32 of shape 3x4", for error texts.
[[nodiscard]] std::string describe(const Array& array);

}  // namespace medley::python
