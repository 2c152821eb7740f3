#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "kernels/byte_floor.h"
#include "kernels/cases.h"
#include "kernels/copy.h"
#include "kernels/pixel.h"
#include "kernels/plain_batch.h"
#include "kernels/plain_cases.h"
#include "kernels/revision.h"
#include "kernels/sections.h"
#include "kernels/simd_target.h"
#include "medley/error.h"

namespace medley::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kRoom = 4096;  // for offsets, and for reading ahead
constexpr std::int64_t kOtherPhase =
    0x85000;  // else sets of a cache would hold both batches' lines

/// An instruction set that both are restricted to.
struct Isa {
  std::string label;
  std::string target;  // of set_simd_target
};

std::vector<Isa> isas() {
  std::vector<Isa> found;
  const auto add = [&](const char* label, std::string_view prefix) {
    for (const std::string_view target : simd_targets()) {
      if (target.starts_with(prefix)) {
        found.push_back({label, std::string(target)});
        return;
      }
    }
  };
  add("AVX-512", "AVX3");
  add("AVX2", "AVX2");
  add("SSE4", "SSE4");
  if (found.empty()) found.push_back({"baseline", std::string(simd_targets().front())});
  return found;
}

BatchStrides strides_of(const PlainCase& c) {
  BatchStrides strides = dense_strides(c.shape, c.out_layout);
  if (c.row_gap > 0) {  // nchw
    strides.row += c.row_gap;
    strides.channel = strides.row * c.shape.height;
    strides.image = strides.channel * c.shape.channels;
  }
  return strides;
}

void fill(const PlainCase& c, std::byte* at) {
  const auto values = static_cast<std::size_t>(c.shape.values());
  const auto fill_halves = [&](auto half) {
    auto* out = reinterpret_cast<decltype(half)*>(at);
    for (std::size_t i = 0; i < values; ++i) store(static_cast<float>(i % 251) / 128 - 1, out[i]);
  };
  switch (c.in) {
    case DType::u8:
      return fill_pixels(std::span(reinterpret_cast<std::uint8_t*>(at), values));
    case DType::f16:
      return fill_halves(F16{});
    case DType::bf16:
      return fill_halves(BF16{});
    case DType::f32:
      return fill_pixels(std::span(reinterpret_cast<float*>(at), values));
  }
}

/// Whether each value is the same, or within a rounding of its type where `exact` is not asked for.
template <typename T>
bool same_values(const T* expected, const T* actual, std::int64_t count, bool exact) {
  if (exact) return std::memcmp(expected, actual, static_cast<std::size_t>(count) * sizeof(T)) == 0;
  constexpr float kTolerance = sizeof(T) == 4 ? 2e-5f : 0x1p-7f;
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = to_float(expected[i]);
    if (!(std::abs(a - to_float(actual[i])) <= kTolerance * std::max(1.0f, std::abs(a)))) {
      return false;
    }
  }
  return true;
}

/// Compares every `step`-th image.
bool same_images(const ImageBatchView& expected, const ImageBatchView& actual, std::int64_t step,
                 bool exact) {
  const BatchShape& s = actual.shape;
  const bool interleaved = actual.layout == Layout::nhwc;
  const std::int64_t channels = interleaved ? 1 : s.channels;
  const std::int64_t count = interleaved ? std::int64_t{s.width} * s.channels : s.width;
  const auto at = [](const ImageBatchView& v, std::int64_t i, std::int64_t c, std::int64_t y) {
    return static_cast<const std::byte*>(v.data) +
           (i * v.strides.image + c * v.strides.channel + y * v.strides.row) * size_of(v.dtype);
  };
  for (std::int64_t i = 0; i < s.count; i += step) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t y = 0; y < s.height; ++y) {
        const void* a = at(expected, i, c, y);
        const void* b = at(actual, i, c, y);
        const auto same = [&](auto one) {
          using T = decltype(one);
          return same_values(static_cast<const T*>(a), static_cast<const T*>(b), count, exact);
        };
        const bool equal = actual.dtype == DType::f32   ? same(0.0f)
                           : actual.dtype == DType::f16 ? same(F16{})
                                                        : same(BF16{});
        if (!equal) return false;
      }
    }
  }
  return true;
}

double to_digits(double value, int digits) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

/// A case on some memory: contenders, and what they found.
class Measurement {
 public:
  Measurement(const Setup& setup, const PlainCase& c, int threads, Pages pages,
              const Revision* before)
      : setup_(setup),
        case_(c),
        threads_(threads),
        before_(c.blocks() ? nullptr : before),  // an older library may not know them
        options_(c.options(threads)),
        plan_(c.plan()),
        plain_(plan_, options_.normalize),
        in_(bytes_of_output() + kRoom + kOtherPhase, pages),
        out_(bytes_of_output() + kRoom, pages),
        expected_(bytes_of_output()) {
    if (before_ != nullptr) before_plan_ = before_->plan(plan_);
    fill(c, input_memory());
    MixOptions reference = options_;
    reference.backend = Backend::reference;
    mix(plan_, input(), output(expected_.data()), reference);
  }
  ~Measurement() {
    if (before_ != nullptr) before_->free_plan(before_plan_);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  /// Rows of the report, one an instruction set.
  [[nodiscard]] std::vector<Json> measure(const std::vector<Isa>& targets, std::string_view pages) {
    std::vector<Json> rows;
    for (const Isa& isa : targets) {
      rows.push_back({{"group", case_.group},
                      {"method", case_.method},
                      {"shape", text_of(case_.shape)},
                      {"threads", threads_},
                      {"pages", pages},
                      {"isa", isa.label}});
    }
    const double bytes = byte_floor(plan_, case_.shape.channels, case_.in, case_.out);
    for (const Offsets offsets : case_.offsets()) {
      std::memmove(input_memory() + offsets.in, input_memory() + moved_, input_bytes());
      moved_ = offsets.in;
      const auto times = measure_at(targets, offsets);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        Json& row = rows[i];
        const auto ms = [&](const std::string& name) { return to_digits(1e3 * times.at(name), 4); };
        const std::string& label = targets[i].label;
        const double ours = times.at(label);
        const double plain = times.at(plain_name(label));
        row["offsets"].push_back({offsets.in, offsets.out});
        row["ratio"].push_back(to_digits(ours / plain, 3));
        row["target"].push_back(plain_target(case_, label, offsets));
        if (before_ != nullptr) {
          row["ratio_before"].push_back(to_digits(times.at("before " + label) / plain, 3));
        }
        row["gb_per_second"].push_back(to_digits(bytes / ours / 1e9, 3));
        row["ms"].push_back(ms(label));
        row["plain_ms"].push_back(ms(plain_name(label)));
        row["best_plain_ms"].push_back(to_digits(1e3 * best_plain(times), 4));
        row["memcpy_ms"].push_back(ms("memcpy"));
      }
    }
    return rows;
  }

 private:
  using Times = std::map<std::string, double>;

  [[nodiscard]] std::int64_t image_bytes() const {
    return strides_of(case_).image * size_of(case_.out);
  }
  [[nodiscard]] std::int64_t bytes_of_output() const { return image_bytes() * case_.shape.count; }
  [[nodiscard]] std::size_t input_bytes() const {
    return static_cast<std::size_t>(case_.shape.values() * size_of(case_.in));
  }
  [[nodiscard]] std::byte* input_memory() const { return in_.data() + kOtherPhase; }
  [[nodiscard]] ImageBatchView input() const {
    return {input_memory() + moved_, case_.in, case_.in_layout, case_.shape,
            dense_strides(case_.shape, case_.in_layout)};
  }
  [[nodiscard]] MutableImageBatchView output(std::byte* at) const {
    return {at, case_.out, case_.out_layout, case_.shape, strides_of(case_)};
  }
  [[nodiscard]] static std::string plain_name(std::string_view isa) {
    return fmt::format("plain {}", isa == "SSE4" ? "baseline" : isa);
  }
  [[nodiscard]] static double best_plain(const Times& times) {
    double best = HUGE_VAL;
    for (const auto& [name, seconds] : times) {
      if (name.starts_with("plain ")) best = std::min(best, seconds);
    }
    return best;
  }

  [[nodiscard]] Times measure_at(const std::vector<Isa>& targets, Offsets offsets) {
    const ImageBatchView from = input();
    const MutableImageBatchView to = output(out_.data() + offsets.out);
    const auto forget = [this] {
      if (case_.fresh) out_.forget();
    };
    std::vector<Contender> contenders;
    std::vector<bool> exact;
    const auto add = [&](std::string name, std::function<void()> run, std::function<void()> prepare,
                         bool same_bits) {
      Contender contender{std::move(name), std::move(run)};
      contender.prepare = std::move(prepare);
      contender.once = case_.fresh;
      contenders.push_back(std::move(contender));
      exact.push_back(same_bits);
    };
    MedleyRevisionJob job = revision_job(from, to, options_);
    for (const Isa& isa : targets) {
      const auto restrict_to = [&isa, forget] {
        set_simd_target(isa.target);
        forget();
      };
      add(
          isa.label, [&] { mix(plan_, from, to, options_); }, restrict_to, true);
      if (before_ == nullptr) continue;
      add(
          "before " + isa.label, [&] { before_->mix(before_plan_, job); },
          [this, &isa, forget] {
            before_->set_simd_target(isa.target);
            forget();
          },
          true);
    }
    const PlainBatch batch = plain_.batch(from, to);
    for (const PlainBuild& build : plain_builds()) {
      add(
          fmt::format("plain {}", build.name),
          [this, &batch, &build] { mix_plainly(build.loop, batch, threads_); }, forget, false);
    }
    // Everything at the first offsets, then samples.
    const std::int64_t step = checked_ ? std::max<std::int64_t>(1, case_.shape.count / 5) : 1;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      for (std::int64_t k = 0; k < case_.shape.count; k += step) {
        std::memset(static_cast<std::byte*>(to.data) + k * image_bytes(), 0xFF,
                    static_cast<std::size_t>(image_bytes()));
      }
      contenders[i].prepare();
      contenders[i].run();
      if (!same_images(output(expected_.data()), to, step, exact[i])) {
        throw Error(fmt::format("{} {} {}: {} differs from the reference", case_.group,
                                case_.method, text_of(case_.shape), contenders[i].name));
      }
    }
    checked_ = true;
    const std::int64_t bytes = bytes_of_output() / (64 * threads_) * (64 * threads_);
    add(
        "memcpy",
        [=, this] { copy_with_memcpy(from.data, out_.data() + offsets.out, bytes, threads_); },
        forget, false);
    const std::vector<double> best = best_of(contenders, setup_.rounds);
    set_simd_target("");
    Times times;
    for (std::size_t i = 0; i < contenders.size(); ++i) times[contenders[i].name] = best[i];
    return times;
  }

  const Setup& setup_;
  const PlainCase& case_;
  int threads_;
  const Revision* before_;
  void* before_plan_ = nullptr;
  MixOptions options_;
  MixPlan plan_;
  PlainPlan plain_;
  Buffer in_;
  Buffer out_;
  Buffer expected_;
  std::int64_t moved_ = 0;
  bool checked_ = false;
};

/// "0.84" for each pair of offsets, "1.04!" where the target is missed.
std::string ratios_of(const Json& row) {
  std::string text;
  for (std::size_t i = 0; i < row["ratio"].size(); ++i) {
    const double ratio = row["ratio"][i];
    text += fmt::format(" {:4.2f}{}", ratio, ratio <= row["target"][i].get<double>() ? ' ' : '!');
  }
  return text;
}

double median_of(const Json& numbers) {
  return spread_of(numbers.get<std::vector<double>>()).median;
}

void print_rows(const std::vector<Json>& rows) {
  const Json& first = rows.front();
  fmt::print("\n{} {} {}, {} thread{}, {} pages; offsets in/out", first["group"].get<std::string>(),
             first["method"].get<std::string>(), first["shape"].get<std::string>(),
             first["threads"].get<int>(), first["threads"] == 1 ? "" : "s",
             first["pages"].get<std::string>());
  for (const Json& pair : first["offsets"]) fmt::print(" {}/{}", pair[0].dump(), pair[1].dump());
  fmt::print("\n");
  for (const Json& row : rows) {
    fmt::print("  {:<8}{}  {:5.1f} GB/s, {:.2f} of memcpy's time", row["isa"].get<std::string>(),
               ratios_of(row), median_of(row["gb_per_second"]),
               median_of(row["ms"]) / median_of(row["memcpy_ms"]));
    if (row.contains("ratio_before")) {
      fmt::print("; before {:.2f}", median_of(row["ratio_before"]));
    }
    fmt::print("\n");
  }
}

/// The pair of offsets that is furthest from its target stands for the row.
void expect_row(const Json& row, Report& report) {
  std::size_t worst = 0;
  const auto excess = [&](std::size_t i) {
    return row["ratio"][i].get<double>() / row["target"][i].get<double>();
  };
  for (std::size_t i = 1; i < row["ratio"].size(); ++i) {
    if (excess(i) > excess(worst)) worst = i;
  }
  report.expect_at_most(
      fmt::format("{} {} {} {} thr. {} {} at {}/{}", row["group"].get<std::string>(),
                  row["method"].get<std::string>(), row["shape"].get<std::string>(),
                  row["threads"].dump(), row["pages"].get<std::string>(),
                  row["isa"].get<std::string>(), row["offsets"][worst][0].dump(),
                  row["offsets"][worst][1].dump()),
      row["ratio"][worst], row["target"][worst]);
}

}  // namespace

void run_versus_plain(const Setup& setup, Report& report) {
  std::unique_ptr<Revision> before;
  if (!setup.before.empty()) before = std::make_unique<Revision>(setup.before);
  const std::vector<Isa> targets = isas();
  fmt::print(
      "\nTime / that of a plain loop for the same instruction set, best of {} rounds; ! misses the "
      "target\n",
      setup.rounds);
  for (const PlainCase& c : plain_cases()) {
    const std::string name = fmt::format("{} {} {}", c.group, c.method, text_of(c.shape));
    if (name.find(setup.filter) == std::string::npos) continue;
    for (const int threads : {1, setup.threads}) {
      for (const auto& [pages, words] : {std::pair{Pages::small, "4 KiB"}, {Pages::huge, "huge"}}) {
        PlainCase some = c;
        if (pages == Pages::huge) some.every_offset = false;
        Measurement measurement(setup, some, threads, pages, before.get());
        const std::vector<Json> rows = measurement.measure(targets, words);
        print_rows(rows);
        for (const Json& row : rows) {
          expect_row(row, report);
          report.add_row("plain", row);
        }
      }
      if (setup.threads == 1) break;
    }
  }
}

}  // namespace medley::bench
