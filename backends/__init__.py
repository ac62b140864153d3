"""Storage: each backend imports `ugs` only and knows no other backend."""
