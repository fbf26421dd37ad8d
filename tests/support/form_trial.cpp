#include "form_trial.hpp"

#include <sstream>
#include <stdexcept>

namespace onefold_test {

namespace {

// count, all, any and none are functions: all forms but dot by the classes of which the others are objects.
template <form What>
constexpr onefold::detail::named_reduction<What> returning{};
template <form What>
constexpr onefold::detail::named_reduction_into<What> storing_it{};

// Calls `f` with the function objects that return and that store this form of elements of type T.
template <class T, class F>
void with_form(form what, F&& f) {
  switch (what) {
#define ONEFOLD_FORM(name)                                                           \
  case form::name:                                                                   \
    if constexpr (form::name == form::dot)                                           \
      return f(onefold::dot, onefold::dot_into);                                     \
    else if constexpr (onefold::takes_type(form::name, onefold::element_type_of<T>)) \
      return f(returning<form::name>, storing_it<form::name>);                       \
    break;
#include <onefold/forms.def>
#undef ONEFOLD_FORM
    default:
      break;
  }
  throw std::logic_error("this form does not take this type");
}

// Calls `call` with the arguments that stand for the data: two pointers for dot, else one.
template <class Function, class T, class Call>
void with_inputs(const Function&, const T* x, const T* y, Call&& call) {
  constexpr bool two = std::is_same_v<Function, onefold::detail::named_dot>;
  if constexpr (two)
    call(x, y);
  else
    call(x);
}

}  // namespace

outcome reduce(const form_trial& one, const void* x, const void* y, std::uint64_t count, onefold::workspace* own) {
  outcome result;
  const onefold::options how{.workspace = own, .report = &result.ran};
  with_type(one.type, [&]<class T> {
    with_form<T>(one.what, [&](const auto& function, const auto&) {
      with_inputs(function, static_cast<const T*>(x), static_cast<const T*>(y), [&](auto... inputs) {
        constexpr auto wide = onefold::accumulate_as<onefold::accumulator_t<T, true>>;
        if (!one.wide) {
          result.value = scalar_of(function(one.where, inputs..., count, how));
        } else if constexpr (requires { function(one.where, inputs..., count, wide, how); }) {
          result.value = scalar_of(function(one.where, inputs..., count, wide, how));
        } else {
          throw std::logic_error("this form of this type has no wide accumulation");
        }
      });
    });
  });
  count_dispatch(one.where);
  return result;
}

onefold::report reduce_into(const form_trial& one, const void* x, const void* y, std::uint64_t count, void* output,
                            onefold::workspace* own) {
  onefold::report ran;
  const onefold::options how{.workspace = own, .report = &ran};
  with_type(one.type, [&]<class T> {
    with_form<T>(one.what, [&](const auto& function, const auto& storing) {
      with_inputs(function, static_cast<const T*>(x), static_cast<const T*>(y), [&](auto... inputs) {
        constexpr auto wide = onefold::accumulate_as<onefold::accumulator_t<T, true>>;

        if (!one.wide) {
          using R = decltype(function(one.where, inputs..., count, how));
          storing(one.where, inputs..., count, static_cast<R*>(output), how);
        } else if constexpr (requires { function(one.where, inputs..., count, wide, how); }) {
          using R = decltype(function(one.where, inputs..., count, wide, how));
          storing(one.where, inputs..., count, static_cast<R*>(output), wide, how);
        } else {
          throw std::logic_error("this form of this type has no wide accumulation");
        }
      });
    });
  });
  count_dispatch(one.where);
  return ran;
}

std::string describe(const form_trial& one, std::uint64_t count, const onefold::report& ran, const expectation& expected,
                     const scalar& got) {
  std::ostringstream out;
  out << "  variant   " << ran.variant << ", ran as " << ran.implementation << " on " << text(one.where) << "\n";
  out << "  type      " << onefold::name(one.type) << ", form " << onefold::name(one.what)
      << (one.wide ? ", accumulated in a wider type" : "") << ", result " << onefold::name(got.type) << "\n";
  out << "  launch    block_size " << ran.block_size << ", grid_size " << ran.grid_size << ", launches " << ran.launches
      << ", threads " << ran.threads << "\n";
  out << "  count     " << count << "\n";
  out << "  data      " << (one.data.empty() ? "exact" : one.data) << ", seed " << one.seed << "\n";
  out << "  expected  " << text(expected.value) << "\n";
  out << "  got       " << text(got) << "\n";
  out << "  bound     " << bound_text(expected) << "\n";
  out << "  repeat    " << repeat_command();
  return out.str();
}

std::optional<std::string> not_as_asked(const form_trial& one, std::uint64_t count, const onefold::report& ran) {
  trial plain;
  plain.where = one.where;
  plain.type = one.type;
  auto wrong = not_as_asked(plain, count, ran);
  if (wrong) *wrong += "\n  form: " + std::string(onefold::name(one.what));
  return wrong;
}

}  // namespace onefold_test
