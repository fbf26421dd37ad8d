#include "record_fixture.hpp"

namespace onefold_test {

std::vector<record_case> record_cases(bool (*keep)(const record_case&)) {
  std::vector<record_case> all;
  for (const auto& where : executors())
    for (int t = 0; t < onefold::element_type_count; ++t)
      for (const form what : {form::argmin, form::argmax, form::minmax, form::mean_variance})
        for (const bool wide : {false, true}) {
          const record_case one{&where, static_cast<element_type>(t), what, wide};
          if (wide && (what != form::mean_variance || one.type != element_type::f32)) continue;
          if (keep == nullptr || keep(one)) all.push_back(one);
        }
  return all;
}

std::string name_of(const testing::TestParamInfo<record_case>& info) {
  const auto& one = info.param;
  return one.on->label + "_" + std::string(onefold::name(one.type)) + "_" + std::string(onefold::name(one.what)) +
         (one.wide ? "_wide" : "");
}

void PrintTo(const record_case& one, std::ostream* out) {
  *out << onefold::name(one.what) << " of " << onefold::name(one.type) << (one.wide ? " accumulated in f64" : "") << " on "
       << one.on->label;
}

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
    if (!output.surroundings_unchanged()) return testing::AssertionFailure() << "wrote beside its output, " << count << " elements";
    if (!x.unchanged()) return testing::AssertionFailure() << "wrote into its input, " << count << " elements";
  } catch (const onefold::error& problem) {
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n  count     "
                                       << count << "\n  repeat    " << repeat_command();
  }
  return testing::AssertionSuccess();
}

}  // namespace onefold_test
