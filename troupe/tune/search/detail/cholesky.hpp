#pragma once

#include <Eigen/Core>

/// Normal equations of some hundred numbers, set up and factorised twice as fast as by Eigen, which
/// uses the vector instructions that the program was compiled for. These use those that there are.
/// Each sum is taken in the order of its terms: the result is the same with any instructions.
namespace troupe::tune::detail {

/// Matrices for the functions below have multiples of 4 columns and of 8 rows; zeros fill them up.
constexpr Eigen::Index padded_columns(Eigen::Index count) {
  return (count + 3) / 4 * 4;
}
constexpr Eigen::Index padded_rows(Eigen::Index count) {
  return (count + 7) / 8 * 8;
}

/// Adds the scalar products of rows i and j of `data` (any number of columns) to `sums`(i, j), for
/// i >= j. `sums` has as many rows as `data` at least and no more columns than that; what becomes
/// of the numbers above its diagonal is not defined.
void add_row_products(const Eigen::MatrixXd& data, Eigen::MatrixXd& sums);

/// At the top of `rows` stands the lower half of a symmetric matrix A. Makes it the L of A = L L',
/// and of each row r below, which is a right-hand side, the solution of L x = r. False when A is
/// not positive definite; then `rows` is of no use any more. Above the diagonal nothing is defined.
[[nodiscard]] bool factorise(Eigen::MatrixXd& rows);

}  // namespace troupe::tune::detail
