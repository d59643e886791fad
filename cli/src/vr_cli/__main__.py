"""`python -m vr_cli` is `vr`."""

from vr_cli import main

if __name__ == "__main__":
    main()
