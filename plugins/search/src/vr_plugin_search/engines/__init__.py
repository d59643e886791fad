"""The services that are asked, one a module, each over its documented HTTP API."""
