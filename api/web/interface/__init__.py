"""What the service says of its own paths: the OpenAPI document, and the page that lets one try them."""
