#include "fixture.hpp"

#include <algorithm>
#include <span>

namespace onefold_test {

namespace {

std::vector<form_case> cases_of(std::span<const form> forms, bool (*keep)(const form_case&)) {
  std::vector<form_case> all;
  for (const auto& where : executors())
    for (int t = 0; t < onefold::full_type_count; ++t)
      for (const form what : forms)
        for (const bool wide : {false, true}) {
          const form_case one{&where, static_cast<element_type>(t), what, wide};
          if (!onefold::takes_type(what, one.type) || (wide && !has_wide(one.what, one.type))) continue;
          if (keep == nullptr || keep(one)) all.push_back(one);
        }
  return all;
}

}  // namespace

std::vector<form_case> form_cases(bool (*keep)(const form_case&)) {
  std::vector<form> forms;
  for (int f = 0; f < onefold::form_count; ++f) forms.push_back(static_cast<form>(f));
  return cases_of(forms, keep);
}

std::vector<form_case> record_cases(bool (*keep)(const form_case&)) {
  static constexpr form forms[] = {form::argmin,           form::argmax, form::argmin_magnitude,
                                   form::argmax_magnitude, form::minmax, form::mean_variance};
  return cases_of(forms, keep);
}

std::string name_of(const testing::TestParamInfo<form_case>& info) {
  const auto& one = info.param;
  return one.on->label + "_" + std::string(onefold::name(one.type)) + "_" + std::string(onefold::name(one.what)) +
         (one.wide ? "_wide" : "");
}

void PrintTo(const form_case& one, std::ostream* out) {
  *out << onefold::name(one.what) << " of " << onefold::name(one.type) << (one.wide ? " accumulated in a wider type" : "") << " on "
       << one.on->label;
}

std::vector<const executor_under_test*> each_of_the_executors() {
  std::vector<const executor_under_test*> all;
  for (const auto& known : executors()) all.push_back(&known);
  return all;
}

std::vector<const executor_under_test*> further_executors() {
  static const std::vector<executor_under_test> known = [] {
    std::vector<executor_under_test> found{{"best", onefold::best(), std::nullopt}};
    const auto& openmp = backend_under_test(onefold::backend::openmp);
    if (openmp.usable && openmp.threads >= 2) found.push_back({"openmp2", onefold::openmp(2), std::nullopt});
    return found;
  }();
  std::vector<const executor_under_test*> all;
  for (const auto& one : known) all.push_back(&one);
  return all;
}

std::string label_of_executor(const testing::TestParamInfo<const executor_under_test*>& info) { return info.param->label + "_"; }

std::vector<std::size_t> telling_sizes(std::size_t tile) {
  const std::size_t lanes = tile / 16;
  std::vector<std::size_t> sizes{1, 2, 3, 5 * lanes + 3, 5 * tile + 77, 50 * tile + 5};
  for (const std::size_t edge : {std::size_t{16}, lanes / 2, lanes, 2 * lanes, 15 * lanes, tile, tile + lanes, 2 * tile, 3 * tile,
                                 4 * tile, 5 * tile, 8 * tile, 16 * tile, 17 * tile, 31 * tile, 64 * tile})
    for (const std::size_t size : {edge - 1, edge, edge + 1}) sizes.push_back(size);
  // With a sanitizer one of several groups of tiles will do.
  if (is_sanitized) std::erase_if(sizes, [&](std::size_t size) { return size > 17 * tile + 1; });
  sizes.push_back(70'001);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

guarded_inputs::guarded_inputs(memory kind, form what, const elements& x, const elements& y)
    : what_(what), x_(kind, x, form_poison(what, x.type())) {
  if (what == form::dot) y_.emplace(kind, y, form_poison(what, y.type()));
}

guarded_inputs::window guarded_inputs::at(std::size_t first_x, std::size_t first_y, std::size_t count, bool wide) {
  const void* x = x_.window(first_x, count);
  const void* y = y_ ? y_->window(first_y, count) : nullptr;
  return {x, y, {what_, wide, &x_.payload(), first_x, y_ ? &y_->payload() : nullptr, first_y, count}};
}

namespace {

testing::AssertionResult is_right(const form_trial& asked, std::uint64_t count, const outcome& got, const expectation& expected) {
  if (got.value.type != expected.value.type)
    return testing::AssertionFailure() << "the result is " << onefold::name(got.value.type) << " instead of "
                                       << onefold::name(expected.value.type);
  if (const auto wrong = disagreement(expected, got.value))
    return testing::AssertionFailure() << *wrong << "\n" << describe(asked, count, got.ran, expected, got.value);
  if (const auto wrong = not_as_asked(asked, count, got.ran)) return testing::AssertionFailure() << *wrong;
  return testing::AssertionSuccess();
}

}  // namespace

testing::AssertionResult form_test::gives(const form_trial& asked, const guarded_inputs::window& in,
                                          const expectation& expected) const {
  try {
    return is_right(asked, in.of.count, reduce(asked, in.x, in.y, in.of.count), expected);
  } catch (const onefold::error& problem) {
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n"
                                       << describe(asked, in.of.count, {}, expected, expected.value);
  }
}

testing::AssertionResult form_test::stores(const form_trial& asked, const guarded_inputs::window& in,
                                           const expectation& expected) const {
  try {
    guarded_output output(memory_for(where()), result());
    outcome got;
    got.ran = reduce_into(asked, in.x, in.y, in.of.count, output.address());
    onefold::synchronize(where());
    got.value = output.value();
    if (!output.surroundings_unchanged())
      return testing::AssertionFailure() << "wrote beside its output\n"
                                         << describe(asked, in.of.count, got.ran, expected, got.value);
    return is_right(asked, in.of.count, got, expected);
  } catch (const onefold::error& problem) {
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n"
                                       << describe(asked, in.of.count, {}, expected, expected.value);
  }
}

}  // namespace onefold_test
