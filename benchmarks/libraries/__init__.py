"""One adaptor a library: a task of ours as that library does it, under the options that make it the same work."""
