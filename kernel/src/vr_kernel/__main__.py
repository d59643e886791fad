"""`python -m vr_kernel` is `vr`."""

from vr_kernel.cli import main

if __name__ == "__main__":
    main()
