#include "form_oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "data.hpp"

namespace onefold_test {

namespace {

// 113 bits of significand and 15 of exponent: the square of every double is in range, and a sum of 2^20 of them is off by 2^-93.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
using quad = long double;
static_assert(std::numeric_limits<long double>::digits >= 113, "the reference needs a wider type than the results");
#endif

constexpr double infinity = std::numeric_limits<double>::infinity();

scalar the_nan(element_type type) { return {type, type == element_type::f32 ? 0x7fc00000u : 0x7ff8000000000000u}; }

scalar of_float(element_type type, double value) {
  if (std::isnan(value)) return the_nan(type);
  return type == element_type::f32 ? scalar_of(static_cast<float>(value)) : scalar_of(value);
}

bool is_sum(form what) {
  switch (what) {
    case form::sum:
    case form::dot:
    case form::sum_of_squares:
    case form::norm1:
    case form::mean:
    case form::norm2:
      return true;
    default:
      return false;
  }
}

// Whether any order gives the same bits, of floats too, by no operation that rounds.
bool is_order_free(form what) {
  switch (what) {
    case form::min_number:
    case form::max_number:
    case form::bit_and:
    case form::bit_or:
    case form::bit_xor:
    case form::count:
    case form::all:
    case form::any:
    case form::none:
      return true;
    default:
      return false;
  }
}

bool asks_for_zeros(form what) { return what == form::count || what == form::all || what == form::any || what == form::none; }

// The type that values are made and combined in.
element_type accumulation_type(const form_input& of) {
  const element_type type = of.x->type();
  if ((of.wide && is_float(type)) || of.what == form::norm2) return element_type::f64;
  if (is_float(type)) return type;
  if (of.what == form::mean) return element_type::f64;
  return result_type_of(of.what, type, false);
}

double element_as_double(const elements& data, std::size_t i) {
  return with_type(data.type(), [&]<class T> { return static_cast<double>(data.as<T>()[i]); });
}

// An integer modulo 2^64, with its sign extended.
std::uint64_t element_as_integer(const elements& data, std::size_t i) {
  return with_type(data.type(), [&]<class T> { return static_cast<std::uint64_t>(data.as<T>()[i]); });
}

// Calls `with` with each element of x, as one of those two: the type is looked at once, not for each of a million.
template <class As, class With>
void for_each_x(const form_input& of, With with) {
  with_type(of.x->type(), [&]<class T> {
    for (const T element : of.x->as<T>().subspan(of.first_x, of.count)) with(static_cast<As>(element));
  });
}

scalar cut_to(element_type type, std::uint64_t bits) { return {type, onefold::size_of(type) == 4 ? bits & 0xffffffffu : bits}; }

// --- integers whose result is an integer: modulo 2^64, which wraps to every smaller type

scalar integer_form(const form_input& of) {
  const element_type type = of.x->type();
  const bool is_signed = type == element_type::i32 || type == element_type::i64;
  std::uint64_t sum = 0, largest = 0, k = 0;
  for_each_x<std::uint64_t>(of, [&](std::uint64_t x) {
    const bool is_negative = is_signed && (x >> 63) != 0;
    const std::uint64_t size = is_negative ? 0 - x : x;
    largest = std::max(largest, size);
    switch (of.what) {
      case form::dot:
        sum += x * element_as_integer(*of.y, of.first_y + k++);
        break;
      case form::sum_of_squares:
        sum += x * x;
        break;
      case form::norm1:
        sum += size;
        break;
      default:
        sum += x;
    }
  });
  return cut_to(result_type_of(of.what, type, of.wide), of.what == form::norm_inf ? largest : sum);
}

// --- sums of floats, and of integers whose result is a float

struct float_sum {
  quad total = 0;
  quad magnitude = 0;
  bool nan = false, plus_infinity = false, minus_infinity = false, only_minus_zeros = true;
};

// Quads are made of calls, a hundred times slower than doubles. Values of moderate size, which nearly all are, are added to a pair of doubles first: some
// 105 bits, which whole numbers never fill.
class summation {
 public:
  void add(double x, double y) {
    const double product = x * y, size = std::fabs(product);
    if (size > 0x1p-900 && size < 0x1p900) {
      add_moderate(product, y == 1 ? 0 : std::fma(x, y, -product));
    } else {
      add_any(x, y);
    }
  }
  [[nodiscard]] float_sum all() const {
    float_sum sum = sum_;
    sum.total += static_cast<quad>(high_) + static_cast<quad>(low_);
    sum.magnitude += static_cast<quad>(magnitude_);
    return sum;
  }

 private:
  // `rest` is what the product lacks: their sum is x * y (a product of such a size has no rest that is subnormal).
  void add_moderate(double product, double rest) {
    sum_.only_minus_zeros = false;
    const double sum = high_ + product, part = sum - high_;
    const double error = (high_ - (sum - part)) + (product - part);  // exact (Knuth)
    const double low = low_ + (error + rest);
    high_ = sum + low;
    low_ = low - (high_ - sum);
    magnitude_ += std::fabs(product);
  }
  void add_any(double x, double y) {
    const bool endless = std::isinf(x) || std::isinf(y);
    if (std::isnan(x) || std::isnan(y) || (endless && (x == 0 || y == 0))) {
      sum_.nan = true;
      return;
    }
    const bool negative = std::signbit(x) != std::signbit(y);
    if (endless) {
      (negative ? sum_.minus_infinity : sum_.plus_infinity) = true;
      return;
    }
    const quad value = static_cast<quad>(x) * static_cast<quad>(y);
    sum_.only_minus_zeros = sum_.only_minus_zeros && value == 0 && negative;
    sum_.total += value;
    sum_.magnitude += negative ? -value : value;
  }

  float_sum sum_;
  double high_ = 0, low_ = 0;  // |low| is at most half a unit in the last place of high
  long double magnitude_ = 0;
};

float_sum sum_of(const form_input& of) {
  summation sum;
  std::size_t k = 0;
  switch (of.what) {  // once, not for each of a million
    case form::dot:
      for_each_x<double>(of, [&](double x) { sum.add(x, element_as_double(*of.y, of.first_y + k++)); });
      break;
    case form::sum_of_squares:
    case form::norm2:
      for_each_x<double>(of, [&](double x) { sum.add(x, x); });
      break;
    case form::norm1:
      for_each_x<double>(of, [&](double x) { sum.add(std::fabs(x), 1); });
      break;
    default:
      for_each_x<double>(of, [&](double x) { sum.add(x, 1); });
  }
  return sum.all();
}

// The result that follows from NaN, infinities and zeros alone.
std::optional<double> special_result(const form_input& of, const float_sum& sum) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (of.count == 0) return of.what == form::mean ? nan : 0.0;
  if (sum.nan || (sum.plus_infinity && sum.minus_infinity)) return nan;
  if (sum.plus_infinity) return infinity;
  if (sum.minus_infinity) return -infinity;
  if (sum.total == 0 && sum.magnitude == 0) return sum.only_minus_zeros ? -0.0 : 0.0;
  return std::nullopt;
}

// The square root of a sum of squares that 53 bits hold, rounded once, where the sum itself is out of the range of a double too.
double root_of_exact(quad total) {
  const auto sum = static_cast<long double>(total);
  if (!std::isfinite(sum) || sum == 0) return static_cast<double>(sum);
  const int even = std::ilogb(sum) / 2 * 2;
  return std::ldexp(std::sqrt(static_cast<double>(std::ldexp(sum, -even))), even / 2);
}

// What follows the tree, where the tree's value is exact in the type of the accumulation.
scalar concluded(const form_input& of, quad total) {
  const element_type result = result_type_of(of.what, of.x->type(), of.wide);
  if (of.what == form::norm2) return of_float(result, root_of_exact(total));
  if (of.what != form::mean)
    return result == element_type::f32 ? scalar_of(static_cast<float>(total)) : scalar_of(static_cast<double>(total));
  if (result == element_type::f32) return scalar_of(static_cast<float>(total) / static_cast<float>(of.count));
  return scalar_of(static_cast<double>(total) / static_cast<double>(of.count));
}

elements widened(const form_input& of) {
  const element_type type = result_type_of(of.what, of.x->type(), true);
  elements wide(type, of.count);
  for (std::size_t k = 0; k < of.count; ++k) {
    const std::size_t i = of.first_x + k;
    wide.put(k, is_float(type) ? scalar_of(element_as_double(*of.x, i)) : scalar{type, element_as_integer(*of.x, i)});
  }
  return wide;
}

// prod, min and max as the older oracle has them; norm_inf as the maximum of the absolute values.
oracle plain_form(const form_input& of) {
  if (of.what == form::norm_inf) {
    elements sizes(of.x->type(), of.count);
    for (std::size_t k = 0; k < of.count; ++k) {
      scalar size = of.x->at(of.first_x + k);
      size.bits &= size.type == element_type::f32 ? 0x7fffffffu : 0x7fffffffffffffffu;
      sizes.put(k, size);
    }
    oracle reference(of.x->type(), operation::max);
    reference.take(sizes, 0, of.count);
    return reference;
  }
  const auto op = of.what == form::prod ? operation::prod : of.what == form::min ? operation::min : operation::max;
  oracle reference(result_type_of(of.what, of.x->type(), of.wide), op);
  if (of.wide)
    reference.take(widened(of), 0, of.count);
  else
    reference.take(*of.x, of.first_x, of.first_x + of.count);
  return reference;
}

// Of each of its bytes how often it had each value: that says how many elements have a bit, which decides.
std::uint64_t combined_bits(const form_input& of) {
  std::array<std::array<std::uint64_t, 256>, 8> counts{};
  for_each_x<std::uint64_t>(of, [&](std::uint64_t x) {
    for (std::size_t byte = 0; byte < 8; ++byte) ++counts[byte][(x >> (8 * byte)) & 255];
  });
  std::uint64_t all = 0;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    std::uint64_t with_it = 0;
    for (std::size_t value = 0; value < 256; ++value)
      if (((value >> (bit % 8)) & 1) != 0) with_it += counts[bit / 8][value];
    const bool is = of.what == form::bit_and ? with_it == of.count : of.what == form::bit_or ? with_it > 0 : with_it % 2 == 1;
    if (is) all |= std::uint64_t{1} << bit;
  }
  return all;
}

// The older oracle's minimum or maximum of what is no NaN.
scalar extreme_number(const form_input& of) {
  const element_type type = of.x->type();
  oracle reference(type, of.what == form::min_number ? operation::min : operation::max);
  elements numbers(type, of.count);
  std::size_t found = 0;
  with_type(type, [&]<class T> {
    for (const T x : of.x->as<T>().subspan(of.first_x, of.count))
      if (!std::isnan(static_cast<double>(x))) numbers.as<T>()[found++] = x;
  });
  reference.take(numbers, 0, found);
  return found > 0 || of.count == 0 ? reference.exactly().value : the_nan(type);
}

scalar order_free_form(const form_input& of) {
  if (of.what == form::min_number || of.what == form::max_number) return extreme_number(of);
  if (!asks_for_zeros(of.what)) return cut_to(of.x->type(), combined_bits(of));
  std::uint64_t found = 0;
  const auto look = [&](auto x) {
    if (x != 0) ++found;
  };
  is_float(of.x->type()) ? for_each_x<double>(of, look) : for_each_x<std::uint64_t>(of, look);
  if (of.what == form::count) return {element_type::u64, found};
  const bool is = of.what == form::all ? found == of.count : of.what == form::any ? found > 0 : found == 0;
  return {element_type::u8, is ? 1U : 0U};
}

bool is_integer_form(const form_input& of) { return !is_float(result_type_of(of.what, of.x->type(), of.wide)); }

expectation to_the_bit(const scalar& value) {
  expectation expected;
  expected.value = value;
  return expected;
}

// The largest relative error of `operations` roundings one after the other.
long double gamma(std::uint64_t operations, element_type type) {
  const long double unit = type == element_type::f32 ? 0x1p-24L : 0x1p-53L;
  const long double product = static_cast<long double>(operations) * unit;
  return product / (1 - product);
}

long double smallest(element_type type) { return type == element_type::f32 ? 0x1p-149L : 0x1p-1074L; }

// --- tree v1: the lanes of a tile, its halving, and the tree over the tiles, by the words of the page

// One value of the tree; `there` is false for an absent operand.
template <class A>
struct operand {
  A value;
  bool there;
};

template <class A, class Combine>
operand<A> join(const operand<A>& a, const operand<A>& b, Combine combine) {
  if (!a.there) return b;
  if (!b.there) return a;
  return {combine(a.value, b.value), true};
}

template <class A, class Value, class Combine>
A tree_v1(std::size_t lanes, std::size_t count, Value value, Combine combine) {
  const std::size_t tile = 16 * lanes;
  std::vector<operand<A>> level;
  for (std::size_t start = 0; start < count; start += tile) {
    std::vector<operand<A>> lane(lanes, operand<A>{A{}, false});
    for (std::size_t j = 0; j < lanes; ++j)
      for (std::size_t r = 0; r < 16; ++r)
        if (const std::size_t i = start + lanes * r + j; i < count) lane[j] = join(lane[j], operand<A>{value(i), true}, combine);
    for (std::size_t h = lanes / 2; h >= 1; h /= 2)
      for (std::size_t j = 0; j < h; ++j) lane[j] = join(lane[j], lane[j + h], combine);
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<operand<A>> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? join(level[i], level[i + 1], combine) : level[i]);
    level = std::move(next);
  }
  return level[0].value;
}

template <class A>
A sum_tree(const form_input& of) {
  const auto x = [&](std::size_t i) { return static_cast<A>(element_as_double(*of.x, of.first_x + i)); };
  const auto y = [&](std::size_t i) { return static_cast<A>(element_as_double(*of.y, of.first_y + i)); };
  const auto of_integer = [&](std::size_t i) {  // one rounding, from the integer itself
    return with_type(of.x->type(), [&]<class T> { return static_cast<A>(of.x->as<T>()[of.first_x + i]); });
  };
  const auto value = [&](std::size_t i) -> A {
    switch (of.what) {
      case form::dot:
        return x(i) * y(i);
      case form::sum_of_squares:
        return x(i) * x(i);
      case form::norm2:
        return of_integer(i) * of_integer(i);
      case form::norm1:
        return std::fabs(x(i));
      default:
        return of_integer(i);
    }
  };
  return tree_v1<A>(256 / onefold::size_of(of.x->type()), of.count, value, [](A a, A b) { return a + b; });
}

template <class A>
A prod_tree(const form_input& of) {
  return tree_v1<A>(
      256 / onefold::size_of(of.x->type()), of.count,
      [&](std::size_t i) { return static_cast<A>(element_as_double(*of.x, of.first_x + i)); }, [](A a, A b) { return a * b; });
}

double norm2_of_doubles(const form_input& of) {
  const auto elements_of = [&](auto keep, double scale) {
    return tree_v1<double>(
        32, of.count,
        [&](std::size_t i) {
          const double x = of.x->as<double>()[of.first_x + i];
          return keep(std::fabs(x)) ? (x * scale) * (x * scale) : 0.0;
        },
        [](double a, double b) { return a + b; });
  };
  const auto is_small = [](double size) { return size < std::ldexp(1.0, -480); };
  const auto is_big = [](double size) { return size >= std::ldexp(1.0, 480); };
  const double up = std::ldexp(1.0, 600), down = std::ldexp(1.0, -600);
  const double s = elements_of(is_small, up);
  const double m = elements_of([&](double size) { return !is_small(size) && !is_big(size); }, 1.0);
  const double b = elements_of(is_big, down);
  if (b != 0) {
    const double root = std::sqrt(b + (m * down) * down), limit = std::ldexp(1.0, 424);
    // Roundings alone, of which there are at most 81, can have brought it there.
    return root >= limit && root <= limit * (1 + std::ldexp(1.0, -47)) ? std::numeric_limits<double>::max() : root * up;
  }
  if (m != 0) return std::sqrt(m + (s * down) * down);
  return std::sqrt(s) * down;
}

}  // namespace

element_type result_type_of(form what, element_type type, bool wide) {
  if (what == form::all || what == form::any || what == form::none) return element_type::u8;
  if (what == form::count) return element_type::u64;
  if (is_float(type)) return wide ? element_type::f64 : type;
  if (wide) return type == element_type::i32 && what != form::norm1 ? element_type::i64 : element_type::u64;
  switch (what) {
    case form::mean:
    case form::norm2:
      return element_type::f64;
    case form::norm1:
    case form::norm_inf:
      if (type == element_type::i32) return element_type::u32;
      if (type == element_type::i64) return element_type::u64;
      return type;
    default:
      return type;
  }
}

bool has_wide(form what, element_type type) {
  const bool adds_or_multiplies = is_sum(what) || what == form::prod;
  if (type == element_type::f32) return adds_or_multiplies || what == form::mean_variance;
  const bool is_short = type == element_type::i32 || type == element_type::u32;
  return is_short && adds_or_multiplies && what != form::mean && what != form::norm2;
}

expectation form_exactly(const form_input& of) {
  if (is_order_free(of.what)) return to_the_bit(order_free_form(of));
  if (is_integer_form(of) && (is_sum(of.what) || of.what == form::norm_inf)) return to_the_bit(integer_form(of));
  if (of.what == form::norm_inf && of.count == 0) return to_the_bit({of.x->type(), 0});  // not the maximum of nothing
  if (!is_sum(of.what)) return plain_form(of).exactly();
  const float_sum sum = sum_of(of);
  if (const auto special = special_result(of, sum))
    return to_the_bit(of_float(result_type_of(of.what, of.x->type(), of.wide), *special));
  if (sum.total == 0) return to_the_bit({result_type_of(of.what, of.x->type(), of.wide), 0});  // what cancels is +0
  return to_the_bit(concluded(of, sum.total));
}

expectation form_within(const form_input& of) {
  const expectation exact = form_exactly(of);
  if (is_order_free(of.what) || is_integer_form(of) || of.what == form::min || of.what == form::max || of.what == form::norm_inf)
    return exact;
  const std::uint64_t depth = depth_of_fixed_order(of.x->type(), of.count);
  if (of.what == form::prod) return plain_form(of).within(depth);
  const float_sum sum = sum_of(of);
  if (special_result(of, sum)) return exact;

  expectation expected = exact;
  expected.exact = false;
  const element_type a = accumulation_type(of), result = result_type_of(of.what, of.x->type(), of.wide);
  const auto total = static_cast<long double>(sum.total), magnitude = static_cast<long double>(sum.magnitude);
  const auto n = static_cast<long double>(of.count);
  const bool exact_values = of.x->type() == element_type::f32 && a == element_type::f64;  // products of floats fit a double
  switch (of.what) {
    case form::dot:
    case form::sum_of_squares:
      expected.reference = total;
      expected.bound = gamma(depth + (exact_values ? 0 : 1), a) * magnitude + (exact_values ? 0 : n * smallest(a));
      break;
    case form::mean:  // integers of 64 bits are rounded too
      expected.reference = total / n;
      expected.bound = gamma(depth + 3, a) * magnitude / n + smallest(a);
      break;
    case form::norm2: {
      expected.reference = std::sqrt(total);
      // Half of the relative error of the sum: its depth, the value's rounding, and the three of a sum of two classes.
      const long double relative = gamma(depth + 4, a) / 2 + gamma(2, a) + (result == element_type::f32 ? 0x1.01p-24L : 0);
      expected.bound = relative * expected.reference + smallest(result);
      break;
    }
    default:  // sum and norm1
      expected.reference = total;
      expected.bound = gamma(depth, a) * magnitude;
  }
  return expected;
}

expectation form_by_tree(const form_input& of) {
  const bool rounds = !is_integer_form(of) && (is_sum(of.what) || of.what == form::prod);
  if (of.count == 0 || !rounds) return form_exactly(of);
  const element_type result = result_type_of(of.what, of.x->type(), of.wide);
  if (of.what == form::norm2 && of.x->type() == element_type::f64) return to_the_bit(of_float(result, norm2_of_doubles(of)));
  if (of.what == form::norm2) return to_the_bit(of_float(result, std::sqrt(sum_tree<double>(of))));
  if (accumulation_type(of) == element_type::f32) {
    const float value = of.what == form::prod ? prod_tree<float>(of) : sum_tree<float>(of);
    return to_the_bit(of_float(result, of.what == form::mean ? value / static_cast<float>(of.count) : value));
  }
  const double value = of.what == form::prod ? prod_tree<double>(of) : sum_tree<double>(of);
  return to_the_bit(of_float(result, of.what == form::mean ? value / static_cast<double>(of.count) : value));
}

elements exact_form_data(element_type type, form what, std::size_t count, std::uint64_t seed, int part) {
  const std::uint64_t own = seed + static_cast<std::uint64_t>(part) * 0x5851f42d4c957f2du;
  if (what == form::prod || what == form::min || what == form::max)
    return exact_data(type, what == form::prod ? operation::prod : what == form::min ? operation::min : operation::max, count, own);
  if (what == form::min_number || what == form::max_number) {  // with NaN in between, but for the last, which decides
    elements data = exact_data(type, what == form::min_number ? operation::min : operation::max, count, own);
    for (std::size_t i = 3; is_float(type) && i + 1 < count; i += 5) data.put(i, the_nan(type));
    return data;
  }
  elements data(type, count);
  const random_numbers random(own);
  if (is_order_free(what)) {
    with_type(type, [&]<class T> {
      const auto out = data.as<T>();
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random.at(i);
        if (what == form::all)
          out[i] = static_cast<T>((bits >> 40) | 1);
        else if (what == form::any || what == form::none)
          out[i] = T(0);
        else if (what == form::count)
          out[i] = (bits & 3) == 0 ? T(0) : static_cast<T>(bits >> 40);  // one of four is zero
        else if (what == form::bit_xor)
          out[i] = static_cast<T>(bits);
        else  // a bit among all places but one, which telling_element() turns over
          out[i] = static_cast<T>(what == form::bit_or ? std::uint64_t{1} << (bits % 30) : ~(std::uint64_t{1} << (bits % 30)));
      }
    });
    return data;
  }
  const bool squares = what == form::dot || what == form::sum_of_squares || what == form::norm2;
  const bool float_result = is_float(result_type_of(what, type, false));
  // Sums of values up to `most` (or its square) stay exact in 24 bits for f32, which is more than enough in 53.
  const double room = std::ldexp(1.0, type == element_type::f32 && what != form::norm2 ? 24 : 52) /
                      static_cast<double>(std::max<std::size_t>(count, 1));
  const auto most = static_cast<std::uint64_t>(std::clamp(std::floor(squares ? std::sqrt(room) : room), 1.0, 8.0));
  with_type(type, [&]<class T> {
    const auto out = data.as<T>();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random.at(i);
      if (what == form::norm_inf) {  // growing, with signs
        const auto size = static_cast<std::int64_t>(i) + 1;
        out[i] = static_cast<T>(std::is_signed_v<T> && (bits & 1) != 0 ? -size : size);
      } else if (!float_result) {
        out[i] = static_cast<T>(bits | 1);  // odd: a product of two is never lost
      } else {
        const auto size = static_cast<std::int64_t>(1 + (bits >> 8) % most);
        out[i] = static_cast<T>(std::is_signed_v<T> && (bits & 1) != 0 ? -size : size);
      }
    }
  });
  return data;
}

scalar form_poison(form what, element_type type) {
  switch (what) {
    case form::prod:
      return poison(type, operation::prod);
    case form::min:
      return poison(type, operation::min);
    case form::max:
    case form::norm_inf:
      return poison(type, operation::max);
    case form::min_number:  // a NaN would not be seen
    case form::max_number:
      return winner(type, what == form::min_number ? operation::min : operation::max);
    case form::bit_and:
    case form::all:
      return {type, 0};
    case form::any:
    case form::none:
      return scalar_from(type, 3);
    default:
      return poison(type, operation::sum);
  }
}

scalar telling_element(form what, const scalar& before) {
  const element_type type = before.type;
  const std::uint64_t spare_bit = std::uint64_t{1} << 30;  // of exact_form_data
  switch (what) {
    case form::min:
    case form::min_number:
      return winner(type, operation::min);
    case form::max:
    case form::max_number:
      return winner(type, operation::max);
    case form::norm_inf:
      return scalar_from(type, 1'000'000);
    case form::bit_and:
      return cut_to(type, ~spare_bit);
    case form::bit_or:
      return {type, spare_bit};
    case form::bit_xor:
      return {type, before.bits ^ 1};
    case form::count:
    case form::all:
    case form::any:
    case form::none:
      return scalar_from(type, before.bits == 0 ? 2 : 0);
    default:
      return scalar_from(type, 2);
  }
}

}  // namespace onefold_test
