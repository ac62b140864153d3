"""Vectors: texts of nodes, contents and notes as directions, kept beside the rows, and search by likeness."""
