#pragma once

#include <onefold/workspace.hpp>

double residual(const double* a, const double* b, double* r, unsigned n, CUstream_st* stream);
void residual_into(const double* r, unsigned n, double* result, CUstream_st* stream, onefold::workspace& memory);
double fused_residual(const double* a, const double* b, unsigned n, CUstream_st* stream);
