#include "data.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace onefold_test {

namespace {

// Mostly few, at times more than a vector has lanes.
std::size_t small_count(random_numbers& random) {
  switch (random.below(8)) {
    case 0:
      return random.below(3);
    case 1:
      return 10 + random.below(40);
    default:
      return 2 + random.below(9);
  }
}

signs random_signs(random_numbers& random) {
  constexpr signs some[] = {signs::both, signs::both, signs::both, signs::plus, signs::minus};
  return some[random.below(5)];
}

template <class T>
T special(random_numbers& random) {
  constexpr float_layout in = layout<T>();
  const std::uint64_t values[] = {0,
                                  in.sign(),
                                  1,
                                  in.sign() | 1,
                                  in.infinity() - 1,
                                  in.infinity(),
                                  in.infinity() | in.sign(),
                                  in.nan() | in.sign() | 5,
                                  in.infinity() | 1};
  // Zeros and the outermost numbers twice as often as what ends every sum.
  return from_bits<T>(values[random.below(2) == 0 ? random.below(5) : random.below(9)]);
}

}  // namespace

int exponent_of_half_unit(const scalar& result) {
  const float_layout in = layout_of(result.type);
  const auto field = static_cast<int>(result.bits >> in.stored & in.last_field());
  return in.lowest() + std::max(field, 1) - 2;
}

std::string_view name(spread kind) {
  constexpr std::string_view names[] = {"all exponents", "exponents within 250", "exponents within 60", "one exponent",
                                        "subnormal",     "the highest exponents"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(signs kind) {
  constexpr std::string_view names[] = {"both signs", "plus", "minus"};
  return names[static_cast<std::size_t>(kind)];
}

fields fields_of(float_layout in, spread kind, random_numbers& random) {
  const std::uint64_t highest = in.last_field() - 1, middle = random.below(highest + 1);
  const auto around = [&](std::uint64_t reach) {
    return fields{middle > reach ? middle - reach : 0, std::min(middle + reach, highest)};
  };
  switch (kind) {
    case spread::within_250:
      return around(250);
    case spread::within_60:
      return around(60);
    case spread::one:
      return {middle, middle};
    case spread::subnormal:
      return {0, 0};
    case spread::highest:
      return {highest - std::min<std::uint64_t>(highest, 10), highest};
    case spread::whole:
      break;
  }
  return {0, highest};
}

template <onefold::element T>
T random_element(random_numbers& random, const fields& within, signs sign) {
  constexpr float_layout in = layout<T>();
  const std::uint64_t all = (std::uint64_t{1} << in.stored) - 1;
  const std::uint64_t r = random(), field = within.low + random.below(within.high - within.low + 1);
  std::uint64_t digits = r & all;
  const auto digit = static_cast<int>(r >> 58) % in.stored;
  switch (r >> 56 & 3) {  // digits of few ones are those that meet in the middle of two results
    case 0:
      digits &= all << digit;
      break;
    case 1:
      digits = (r & std::uint64_t{1} << 55) != 0 ? all << digit & all : std::uint64_t{1} << digit;
      break;
    default:
      break;
  }
  const bool negative = sign == signs::minus || (sign == signs::both && (r >> 54 & 1) != 0);
  return from_bits<T>((negative ? in.sign() : 0) | field << in.stored | digits);
}

template <onefold::element T>
std::vector<T> random_elements(std::size_t count, spread kind, signs sign, std::uint64_t seed) {
  random_numbers random(seed);
  const fields within = fields_of(layout<T>(), kind, random);
  std::vector<T> x(count);
  for (T& one : x) one = random_element<T>(random, within, sign);
  return x;
}

template <onefold::element T>
void make_small_case(std::vector<T>& x, random_numbers& random) {
  const fields within = fields_of(layout<T>(), spreads[random.below(std::size(spreads))], random);
  const signs sign = random_signs(random);
  x.resize(small_count(random));
  for (T& one : x) one = random_element<T>(random, within, sign);
  switch (random.below(4)) {
    case 0:  // some cancel some others
      for (T& one : x)
        if (random.below(3) == 0) one = negated(x[random.below(x.size())]);
      break;
    case 1: {  // the middle between two results, and perhaps a little beside it
      exact_elements so_far{std::span<const T>(x)};
      if (const auto half = power_of_two<T>(exponent_of_half_unit(so_far.result(form::sum)), random.below(2) == 0))
        x.push_back(*half);
      if (random.below(2) == 0) x.push_back(from_bits<T>(1 | (random.below(2) == 0 ? layout<T>().sign() : 0)));
      break;
    }
    case 2:
      if (random.below(2) == 0)
        for (T& one : x)
          if (random.below(4) == 0) one = special<T>(random);
      break;
    default:
      break;
  }
  shuffle(x, random);
}

template <onefold::element T>
void make_small_case(std::vector<T>& x, std::vector<T>& y, random_numbers& random) {
  const auto any_fields = [&] { return fields_of(layout<T>(), spreads[random.below(std::size(spreads))], random); };
  const fields of_x = any_fields(), of_y = any_fields();
  const signs sign = random_signs(random);
  std::vector<std::pair<T, T>> pairs(small_count(random));
  for (auto& [one, other] : pairs) {
    one = random_element<T>(random, of_x, sign);
    other = random_element<T>(random, of_y, sign == signs::both ? sign : signs::plus);
  }
  switch (random.below(4)) {
    case 0:  // some products cancel some others
      for (auto& pair : pairs)
        if (random.below(3) == 0) {
          const auto& other = pairs[random.below(pairs.size())];
          pair = {other.second, negated(other.first)};
        }
      break;
    case 1: {
      exact_pairs so_far(onefold::element_type_of<T>);
      for (const auto& [one, other] : pairs) so_far.add(scalar_of(one).bits, scalar_of(other).bits);
      const int half = exponent_of_half_unit(so_far.result()), first = half / 2;
      const auto one = power_of_two<T>(first, random.below(2) == 0), other = power_of_two<T>(half - first);
      if (one && other) pairs.emplace_back(*one, *other);
      if (random.below(2) == 0)
        pairs.emplace_back(from_bits<T>(1), from_bits<T>(1 | (random.below(2) == 0 ? layout<T>().sign() : 0)));
      break;
    }
    case 2:
      if (random.below(2) == 0)
        for (auto& [one, other] : pairs) {
          if (random.below(5) == 0) one = special<T>(random);
          if (random.below(5) == 0) other = special<T>(random);
        }
      break;
    default:
      break;
  }
  shuffle(pairs, random);
  x.resize(pairs.size());
  y.resize(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) std::tie(x[i], y[i]) = pairs[i];
}

template <onefold::element T>
std::string text_of(std::span<const T> x) {
  std::string text = "{";
  for (const T& one : x.first(std::min<std::size_t>(x.size(), 50))) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%s0x%0*llx", text.size() == 1 ? "" : " ", layout<T>().width() / 4,
                  static_cast<unsigned long long>(scalar_of(one).bits));
    text += digits;
  }
  return text + (x.size() > 50 ? " .." : "") + "}";
}

#define ONEFOLD_TEST_FLOAT(T)                                                            \
  template T random_element<T>(random_numbers&, const fields&, signs);                   \
  template std::vector<T> random_elements<T>(std::size_t, spread, signs, std::uint64_t); \
  template void make_small_case<T>(std::vector<T>&, random_numbers&);                    \
  template void make_small_case<T>(std::vector<T>&, std::vector<T>&, random_numbers&);   \
  template std::string text_of<T>(std::span<const T>);
ONEFOLD_TEST_FLOAT(float)
ONEFOLD_TEST_FLOAT(double)
ONEFOLD_TEST_FLOAT(onefold::float16)
ONEFOLD_TEST_FLOAT(onefold::bfloat16)

}  // namespace onefold_test
