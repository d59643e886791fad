"""The command that installs the libraries which write documents."""

INSTALL = "pip install 'video-research[reports]'"
