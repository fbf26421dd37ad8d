#include "record_trial.hpp"

#include <onefold/onefold.hpp>

#include <cstring>
#include <sstream>

#include "form_trial.hpp"

namespace onefold_test {

namespace {

template <class T>
void put(record_outcome& to, const onefold::arg_result<T>& from) {
  to.first = scalar_of(from.value);
  to.second = scalar_of(from.index);
}
template <class T>
void put(record_outcome& to, const onefold::minmax_result<T>& from) {
  to.first = scalar_of(from.min);
  to.second = scalar_of(from.max);
}
template <class T>
void put(record_outcome& to, const onefold::mean_variance_result<T>& from) {
  to.first = scalar_of(from.mean);
  to.second = scalar_of(from.variance);
}

// Calls `f` with the function objects that return and that store this form, and what stands between the data and the options.
template <class T, class F>
void with_record(const record_trial& one, F&& f) {
  switch (one.what) {
    case form::argmin:
      return f(onefold::argmin, onefold::argmin_into);
    case form::argmax:
      return f(onefold::argmax, onefold::argmax_into);
    case form::argmin_magnitude:
      return f(onefold::argmin_magnitude, onefold::argmin_magnitude_into);
    case form::argmax_magnitude:
      return f(onefold::argmax_magnitude, onefold::argmax_magnitude_into);
    case form::minmax:
      return f(onefold::minmax, onefold::minmax_into);
    case form::mean_variance:
      // Left away where it is 0, which is the same.
      if constexpr (std::is_same_v<T, float>) {
        constexpr auto wide = onefold::accumulate_as<double>;
        if (one.wide && one.ddof == 0) return f(onefold::mean_variance, onefold::mean_variance_into, wide);
        if (one.wide) return f(onefold::mean_variance, onefold::mean_variance_into, onefold::ddof{one.ddof}, wide);
      }
      if (one.ddof == 0) return f(onefold::mean_variance, onefold::mean_variance_into);
      return f(onefold::mean_variance, onefold::mean_variance_into, onefold::ddof{one.ddof});
    default:
      throw std::logic_error("this form has one result, or any number");
  }
}

}  // namespace

record_outcome reduce(const record_trial& one, const void* x, std::uint64_t count, onefold::workspace* own) {
  record_outcome got;
  const onefold::options how{.workspace = own, .report = &got.ran};
  with_type(one.type, [&]<class T> {
    with_record<T>(one, [&](const auto& function, const auto&, auto... modifiers) {
      put(got, function(one.where, static_cast<const T*>(x), count, modifiers..., how));
    });
  });
  count_dispatch(one.where);
  return got;
}

onefold::report reduce_into(const record_trial& one, const void* x, std::uint64_t count, void* output, onefold::workspace* own) {
  onefold::report ran;
  const onefold::options how{.workspace = own, .report = &ran};
  with_type(one.type, [&]<class T> {
    with_record<T>(one, [&](const auto& function, const auto& storing, auto... modifiers) {
      const auto* input = static_cast<const T*>(x);
      using R = decltype(function(one.where, input, count, modifiers..., how));
      storing(one.where, input, count, static_cast<R*>(output), modifiers..., how);
    });
  });
  count_dispatch(one.where);
  return ran;
}

record_outcome stored(const record_trial& one, const void* bytes) {
  record_outcome got;
  with_type(one.type, [&]<class T> {
    with_record<T>(one, [&](const auto& function, const auto&, auto... modifiers) {
      decltype(function(one.where, static_cast<const T*>(nullptr), 0, modifiers...)) result;
      std::memcpy(&result, bytes, sizeof(result));
      put(got, result);
    });
  });
  return got;
}

std::optional<std::string> disagreement(const record_trial& one, std::uint64_t count, const record_expectation& expected,
                                        const record_outcome& got) {
  const form_trial plain{one.where, one.what, one.type, one.wide, one.seed, one.data};
  const auto told = [&](const char* which, const expectation& right, const scalar& value) -> std::optional<std::string> {
    const auto wrong =
        value.type == right.value.type ? disagreement(right, value) : std::optional<std::string>("another type of result");
    if (!wrong) return std::nullopt;
    std::ostringstream out;
    out << which << " result: " << *wrong << "\n" << describe(plain, count, got.ran, right, value);
    if (one.what == form::mean_variance) out << "\n  ddof      " << one.ddof;
    return out.str();
  };
  if (auto wrong = told("first", expected.first, got.first)) return wrong;
  if (auto wrong = told("second", expected.second, got.second)) return wrong;
  return not_as_asked(plain, count, got.ran);
}

}  // namespace onefold_test
