#include "record_fixture.hpp"

namespace onefold_test {

guarded_input record_test::guarded(const elements& x) const {
  const operation poisoned = what() == form::argmax          ? operation::max
                             : what() == form::mean_variance ? operation::sum
                                                             : operation::min;
  return {memory_for(where()), x, poisoned};
}

elements record_test::all_of(double value, std::size_t count) const {
  elements data(type(), count);
  data.fill(scalar_from(type(), value));
  return data;
}

testing::AssertionResult record_test::agrees(const record_trial& asked, guarded_input& x, std::size_t first, std::size_t count,
                                             const record_expectation& expected) const {
  try {
    const void* const input = x.window(first, count);
    if (const auto wrong = disagreement(asked, count, expected, reduce(asked, input, count)))
      return testing::AssertionFailure() << *wrong;
    guarded_output output(memory_for(where()), expected.first.value.type, onefold::result_bytes(type(), what(), asked.wide));
    onefold::report ran = reduce_into(asked, input, count, output.address());
    onefold::synchronize(where());
    record_outcome got = stored(asked, output.bytes().data());
    got.ran = std::move(ran);
    if (const auto wrong = disagreement(asked, count, expected, got)) return testing::AssertionFailure() << "stored: " << *wrong;
    // Between a value of 4 bytes and its index.
    if (needs_an_element() && onefold::size_of(type()) == 4 && memory_for(where()) == memory::host)
      for (std::size_t at = 4; at < 8; ++at)
        if (output.bytes()[at] != std::byte{0})
          return testing::AssertionFailure() << "another byte than 0 before the index, " << count << " elements";
    if (!output.surroundings_unchanged()) return testing::AssertionFailure() << "wrote beside its output, " << count << " elements";
    if (!x.unchanged()) return testing::AssertionFailure() << "wrote into its input, " << count << " elements";
  } catch (const onefold::error& problem) {
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n  count     "
                                       << count << "\n  repeat    " << repeat_command();
  }
  return testing::AssertionSuccess();
}

}  // namespace onefold_test
