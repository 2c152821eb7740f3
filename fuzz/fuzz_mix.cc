// The cpu backend against the reference on random mixing calls, steered by the fuzzer's coverage.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "medley/medley.h"
#include "support/batches.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t number = 0;
  std::memcpy(&number, data, size < sizeof number ? size : sizeof number);
  medley::test::MixCase c = medley::test::random_case(number);
  c.blocks = static_cast<medley::test::Blocks>(size > sizeof number ? data[sizeof number] % 3 : 0);
  const medley::MixPlan plan = c.plan();
  medley::test::Batch in(c.in_dtype, c.in_layout, c.in_shape, c.in_gap);
  in.fill_random(number);
  medley::test::Batch expected(
      c.out_dtype, c.out_layout,
      {std::ssize(plan.entries), c.in_shape.channels, c.size.height, c.size.width}, c.out_gap);
  medley::test::Batch actual = expected;
  medley::MixOptions options = c.options;
  options.backend = medley::Backend::reference;
  medley::mix(plan, in.view(), expected.mutable_view(), options);
  options.backend = medley::Backend::cpu;
  medley::mix(plan, in.view(), actual.mutable_view(), options);
  const std::string difference = medley::test::difference(expected, actual, c.out_dtype);
  if (!difference.empty()) {
    std::cerr << "number " << number << ": " << difference << "\n" << c.describe() << "\n";
    std::abort();
  }
  return 0;
}
