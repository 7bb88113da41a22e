# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Units of measure behind a number: symbol -> (one, many)."""

from __future__ import annotations

import re


def _same(words: str) -> tuple[str, str]:
    return words, words


def _plural(word: str) -> tuple[str, str]:
    return word, word + "s"


UNITS: dict[str, tuple[str, str]] = {
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "ºF": ("degree Fahrenheit", "degrees Fahrenheit"),
    "° F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "ºC": ("degree Celsius", "degrees Celsius"),
    "° C": ("degree Celsius", "degrees Celsius"),
    "°": _plural("degree"),
    "º": _plural("degree"),
    "PSI": _same("P S I"),
    "psi": _same("P S I"),
    "PSIG": _same("P S I G"),
    "psig": _same("P S I G"),
    "kPa": _plural("kilopascal"),
    "Pa": _plural("pascal"),
    "bar": _same("bar"),
    "inHg": ("inch of mercury", "inches of mercury"),
    "inWC": ("inch of water", "inches of water"),
    "BTU": _same("B T U"),
    "BTUs": _same("B T U"),
    "Btu": _same("B T U"),
    "BTU/h": _same("B T U per hour"),
    "BTU/hr": _same("B T U per hour"),
    "BTUH": _same("B T U per hour"),
    "kWh": _plural("kilowatt hour"),
    "kW": _plural("kilowatt"),
    "MW": _plural("megawatt"),
    "W": _plural("watt"),
    "mV": _plural("millivolt"),
    "kV": _plural("kilovolt"),
    "V": _plural("volt"),
    "VAC": ("volt A C", "volts A C"),
    "VDC": ("volt D C", "volts D C"),
    "mA": _plural("milliamp"),
    "A": _plural("amp"),
    "kHz": _same("kilohertz"),
    "MHz": _same("megahertz"),
    "GHz": _same("gigahertz"),
    "Hz": _same("hertz"),
    "Ω": _plural("ohm"),
    "kΩ": _plural("kilohm"),
    "µF": _plural("microfarad"),
    "μF": _plural("microfarad"),
    "uF": _plural("microfarad"),
    "MFD": _plural("microfarad"),
    "hp": _same("horsepower"),
    "HP": _same("horsepower"),
    "rpm": _same("R P M"),
    "RPM": _same("R P M"),
    "CFM": _same("C F M"),
    "cfm": _same("C F M"),
    "GPM": _same("gallons per minute"),
    "gpm": _same("gallons per minute"),
    "mph": ("mile per hour", "miles per hour"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "ppm": _same("parts per million"),
    "dB": _plural("decibel"),
    "dBA": _plural("decibel"),
    "mm": _plural("millimeter"),
    "cm": _plural("centimeter"),
    "km": _plural("kilometer"),
    "m": _plural("meter"),
    "µm": _plural("micron"),
    "in.": ("inch", "inches"),
    '"': ("inch", "inches"),
    "″": ("inch", "inches"),
    "ft": ("foot", "feet"),
    "ft.": ("foot", "feet"),
    "'": ("foot", "feet"),
    "′": ("foot", "feet"),
    "yd": _plural("yard"),
    "mi": _plural("mile"),
    "sq ft": ("square foot", "square feet"),
    "sq. ft.": ("square foot", "square feet"),
    "ft²": ("square foot", "square feet"),
    "m²": _plural("square meter"),
    "cu ft": ("cubic foot", "cubic feet"),
    "m³": _plural("cubic meter"),
    "lb": _plural("pound"),
    "lbs": _plural("pound"),
    "lbs.": _plural("pound"),
    "oz": _plural("ounce"),
    "kg": _plural("kilogram"),
    "g": _plural("gram"),
    "mg": _plural("milligram"),
    "gal": _plural("gallon"),
    "L": _plural("liter"),
    "mL": _plural("milliliter"),
    "ml": _plural("milliliter"),
    "hr": _plural("hour"),
    "hrs": _plural("hour"),
    "hr.": _plural("hour"),
    "hrs.": _plural("hour"),
    "h": _plural("hour"),
    "min": _plural("minute"),
    "mins": _plural("minute"),
    "min.": _plural("minute"),
    "sec": _plural("second"),
    "secs": _plural("second"),
    "s": _plural("second"),
    "ms": _plural("millisecond"),
    "wk": _plural("week"),
    "wks": _plural("week"),
    "yr": _plural("year"),
    "yrs": _plural("year"),
    "mo": _plural("month"),
    "mos": _plural("month"),
    "mos.": _plural("month"),
    "GB": _plural("gigabyte"),
    "MB": _plural("megabyte"),
    "KB": _plural("kilobyte"),
    "TB": _plural("terabyte"),
    "Mbps": _same("megabits per second"),
    "Gbps": _same("gigabits per second"),
}

# One letter is a unit right behind its number ("15A"); across a space only where it can be no word.
_CLOSE = sorted((u for u in UNITS if len(u) == 1), key=len, reverse=True)
_SPACED = sorted((u for u in UNITS if len(u) > 1), key=len, reverse=True)
_BEHIND = r"[\d½⅓⅔¼¾⅛⅜⅝⅞]"
_AMPS = r"A(?= (?:breaker|fuse|circuit|service|load|supply))"


def _any_of(symbols: list[str]) -> str:
    return "|".join(re.escape(s) for s in symbols)


UNIT_PATTERN = (
    rf"(?:{_any_of(_SPACED)}|(?<={_BEHIND})(?:{_any_of(_CLOSE)})"
    rf"|(?<={_BEHIND}[ -])(?:[VWLmg°º]|{_AMPS}))(?!\w)"
)
