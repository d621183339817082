"""Statistics: light, pure functions of A. Nothing here sees data or kernels."""
