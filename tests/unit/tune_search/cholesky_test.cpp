#include <troupe/tune/search/detail/cholesky.hpp>

#include <limits>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::Lower;
using Eigen::MatrixXd;

/// Small whole numbers, whose sums of products are exact; what fills the matrix up is zero.
MatrixXd whole_numbers(Index rows, Index columns) {
  MatrixXd made = MatrixXd::Zero(padded_rows(rows), columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i)
      made(i, j) = static_cast<double>((i * i + 7 * j * j + 3 * i * j) % 11) - 5;
  return made;
}

TEST_CASE("products of rows are added to what is there, whatever the size") {
  for (const Index width : {1, 3, 4, 5, 8, 9, 12, 15, 16, 30, 66, 100}) {
    const MatrixXd data = whole_numbers(width + 1, 7);
    MatrixXd sums = MatrixXd::Ones(padded_rows(width + 1) + 8, padded_columns(width));
    const MatrixXd wanted = MatrixXd(data * data.transpose()).leftCols(sums.cols()).array() + 1;
    add_row_products(data, sums);
    CHECK(MatrixXd(sums.topRows(width + 1).triangularView<Lower>()) ==
          MatrixXd(wanted.topRows(width + 1).triangularView<Lower>()));
    CHECK((sums.bottomRows(8).array() == 1).all());
  }
}

TEST_CASE("sums of row products have one order, that of the columns") {
  const MatrixXd data = MatrixXd::Random(24, 50);
  MatrixXd sums = MatrixXd::Zero(24, 24);
  add_row_products(data, sums);
  for (Index i = 0; i < 24; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k < data.cols(); ++k) {
        const volatile double product = data(i, k) * data(j, k);
        sum += product;
      }
      CHECK(sums(i, j) == sum);
    }
}

TEST_CASE("a matrix is factorised, and the rows below are solved for") {
  for (const Index width : {4, 8, 12, 20, 68, 100}) {
    const MatrixXd random = MatrixXd::Random(width, width);
    const MatrixXd matrix = random * random.transpose() + MatrixXd::Identity(width, width);
    const MatrixXd sides = MatrixXd::Random(3, width);
    MatrixXd rows = MatrixXd::Zero(padded_rows(width + 3), width);
    rows.topRows(width) = matrix.triangularView<Lower>();
    rows.middleRows(width, 3) = sides;
    REQUIRE(factorise(rows));
    const MatrixXd factor = rows.topRows(width).triangularView<Lower>();
    CHECK((factor * factor.transpose() - matrix).cwiseAbs().maxCoeff() < 1e-11);
    CHECK((rows.middleRows(width, 3) * factor.transpose() - sides).cwiseAbs().maxCoeff() < 1e-11);
  }
}

TEST_CASE("a matrix that is not positive definite is not factorised") {
  for (const Index place : {0, 3, 4, 11}) {
    MatrixXd rows = MatrixXd::Zero(16, 12);
    rows.diagonal().setOnes();
    rows(place, place) = 0;
    CHECK(!factorise(rows));
    rows(place, place) = std::numeric_limits<double>::quiet_NaN();
    CHECK(!factorise(rows));
  }
}

}  // namespace
}  // namespace troupe::tune::detail
