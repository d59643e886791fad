"""Starts the server in the environment that the client makes for this bundle."""  # noqa: INP001

from vr_cli import main

if __name__ == "__main__":
    main()
