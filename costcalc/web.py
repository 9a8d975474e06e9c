"""The Flask factory, `costcalc.web:create_app`, for a server of one's own."""

from api.web.app import create_app

__all__ = ["create_app"]
