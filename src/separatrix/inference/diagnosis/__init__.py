"""The assumptions behind a regression, looked at one by one; influence of rows; simple regression."""
