#pragma once
/// @file phrasebook_context.hpp  What the fragments in docs/phrasebook.md take for granted: the arrays, functions and types of the codes that they are from.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

namespace phrasebook {

using namespace onefold;

extern std::vector<double> x, y, r, z, v, q, mass_of, velocity, vdov, length, ss, a;
extern std::vector<int> mask, type;
extern std::vector<std::uint64_t> key;
extern double qqc2;
extern std::size_t n;
extern std::int64_t n1, nl, nk, nj, ni, j0, j1, i0, i1;
extern std::uint64_t b, e, first;
extern double s, c;

struct field_of_two {
  double operator()(std::int64_t, std::int64_t) const;
};
extern field_of_two field, u, r2, vx, vy, vol, density, en, pr;
double w(std::int64_t, std::int64_t, std::int64_t, std::int64_t);
bool is_good(std::uint64_t);
double f(std::uint64_t);

struct point {
  double of[3];
};
struct box3 {
  double low[3], high[3];
  box3() = default;
  explicit box3(const point&);
};
box3 join(box3, box3);
extern std::vector<point> points;
struct tile_of_cells {
  std::int64_t j0, j1, i0, i1;
};
extern std::vector<tile_of_cells> tiles;

// On a GPU.
extern double *d_x, *d_y, *d_out, *h_x;
extern arg_result<double>* d_arg;
extern CUstream_st* stream;
extern float16* d_half;
extern float* d_float;
extern std::int8_t *d_int8, *d_other_int8;
extern std::int64_t* d_int64;

}  // namespace phrasebook
