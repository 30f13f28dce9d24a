"""Function apps to measure: each is put into a copy of the app in place of function_app.py."""
