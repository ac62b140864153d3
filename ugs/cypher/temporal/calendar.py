"""The proleptic Gregorian calendar on plain integers: days since 1970-01-01 for any year."""

from __future__ import annotations

NS = 1_000_000_000
DAY_SECONDS = 86_400
DAY_NS = DAY_SECONDS * NS
MAX_YEAR = 999_999_999
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month - 1]


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def year_month_day(number: int) -> tuple[int, int, int]:
    """The date of a day number."""
    era, of_era = divmod(number + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def week_day(number: int) -> int:
    """1 is Monday, 7 is Sunday."""
    return (number + 3) % 7 + 1


def first_week(year: int) -> int:
    """The Monday of week 1: the week that holds 4 January."""
    fourth = day_number(year, 1, 4)
    return fourth - week_day(fourth) + 1


def year_week(number: int) -> tuple[int, int]:
    """The ISO week, and the year it counts in."""
    year = year_month_day(number - week_day(number) + 4)[0]
    return year, (number - first_week(year)) // 7 + 1


def weeks_in(year: int) -> int:
    return (first_week(year + 1) - first_week(year)) // 7


def plus_months(number: int, months: int) -> int:
    """The same day so many months on, or the last day of a shorter month."""
    year, month, day = year_month_day(number)
    years, of_year = divmod(month - 1 + months, 12)
    year, month = year + years, of_year + 1
    return day_number(year, month, min(day, month_length(year, month)))


def months_between(start: int, end: int) -> int:
    """Whole months from one day to another, towards zero."""
    packed = []
    for number in (start, end):
        year, month, day = year_month_day(number)
        packed.append((year * 12 + month - 1) * 32 + day)
    return truncate_toward_zero(packed[1] - packed[0], 32)


def truncate_toward_zero(value: int, by: int) -> int:
    """Division towards zero."""
    return value // by if value >= 0 else -(-value // by)
