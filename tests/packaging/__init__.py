"""The project as others get it: wheel, image, compose file, lock and declared dependencies."""
