"""The service over HTTP: Flask's application, its paths, and the production server."""
