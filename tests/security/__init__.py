"""Attacks on a running gateway, by the ids of the threat list: each must end as the list says."""
