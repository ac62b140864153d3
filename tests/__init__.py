"""Tests of the whole project; folders mirror the packages they test."""
