"""The only home of storage: matrices as row blocks, with a virtual intercept column and a count of passes."""
