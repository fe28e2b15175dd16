#include <troupe/tune/search/detail/cholesky.hpp>

#include <cmath>
#include <cstring>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Columns that are worked on at a time.
constexpr Index block = 4;

using Two = double __attribute__((vector_size(16)));
using Four = double __attribute__((vector_size(32)));

/// Adds `sign` times the scalar products of the beginnings, `length` numbers, of rows i and j of
/// `data` to `sums`(i, j), for first <= j < end and i from the beginning of the tile that j is in.
template <class Vector>
[[gnu::always_inline]] inline void add_products(double sign, const MatrixXd& data, Index length,
                                                Index first, Index end, MatrixXd& sums) {
  constexpr auto lanes = static_cast<Index>(sizeof(Vector) / sizeof(double));
  constexpr Index tile = 2 * lanes;
  for (Index j = first; j < end; j += block)
    for (Index i = j / tile * tile; i < data.rows(); i += tile) {
      Vector sum[block][2] = {};  // stay in registers
      Vector upper;
      Vector lower;
      for (Index k = 0; k < length; ++k) {
        const double* column = data.data() + k * data.rows();
        std::memcpy(&upper, column + i, sizeof upper);
        std::memcpy(&lower, column + i + lanes, sizeof lower);
#pragma GCC unroll 4
        for (Index c = 0; c < block; ++c) {
          sum[c][0] += upper * column[j + c];
          sum[c][1] += lower * column[j + c];
        }
      }
#pragma GCC unroll 4
      for (Index c = 0; c < block; ++c) {
        double* target = sums.data() + (j + c) * sums.rows() + i;
        std::memcpy(&upper, target, sizeof upper);
        std::memcpy(&lower, target + lanes, sizeof lower);
        upper += sign * sum[c][0];
        lower += sign * sum[c][1];
        std::memcpy(target, &upper, sizeof upper);
        std::memcpy(target + lanes, &lower, sizeof lower);
      }
    }
}

using AddProducts = void(double sign, const MatrixXd& data, Index length, Index first, Index end,
                         MatrixXd& sums);

void add_products_of_two(double sign, const MatrixXd& data, Index length, Index first, Index end,
                         MatrixXd& sums) {
  add_products<Two>(sign, data, length, first, end, sums);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void add_products_of_four(double sign, const MatrixXd& data,
                                                          Index length, Index first, Index end,
                                                          MatrixXd& sums) {
  add_products<Four>(sign, data, length, first, end, sums);
}

AddProducts& add_products() {
  static AddProducts& best =
      __builtin_cpu_supports("avx2") != 0 ? add_products_of_four : add_products_of_two;
  return best;
}

#else

AddProducts& add_products() {
  return add_products_of_two;
}

#endif

}  // namespace

void add_row_products(const MatrixXd& data, MatrixXd& sums) {
  add_products()(1, data, data.cols(), 0, sums.cols(), sums);
}

bool factorise(MatrixXd& rows) {
  for (Index first = 0; first < rows.cols(); first += block) {
    add_products()(-1, rows, first, first, first + block, rows);
    for (Index j = first; j < first + block; ++j) {
      auto column = rows.col(j).tail(rows.rows() - j);
      for (Index k = first; k < j; ++k)
        column -= rows(j, k) * rows.col(k).tail(rows.rows() - j);
      if (!(column[0] > 0))
        return false;
      column /= std::sqrt(column[0]);
    }
  }
  return true;
}

}  // namespace troupe::tune::detail
