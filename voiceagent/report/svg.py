"""The shapes that the report's figures are drawn with. Coordinates are CSS pixels."""

from __future__ import annotations

from collections.abc import Iterable

from voiceagent.report.markup import Markup, escaped, join, tag


def figure(
    width: float, height: float, title: str, *children: str, desc: str = "", class_: str = ""
) -> Markup:
    """An SVG image with ``title`` as its accessible name and ``desc`` as its description."""
    return tag(
        "svg",
        tag("title", title),
        *([tag("desc", desc)] if desc else []),
        *children,
        role="img",
        aria_label=title,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        class_=class_ or None,
    )


def rect(
    x: float, y: float, width: float, height: float, class_: str, title: str = "", radius: float = 0
) -> Markup:
    """A box, at least visibly wide."""
    return tag(
        "rect",
        *([tag("title", title)] if title else []),
        x=x,
        y=y,
        width=max(0.75, width),
        height=height,
        class_=class_,
        rx=radius or None,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def words(x: float, y: float, text: str, class_: str = "", anchor: str | None = None) -> Markup:
    """Text whose baseline begins (or as ``anchor`` says) at a point."""
    return tag("text", text, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def ticks(places: Iterable[float], y: float, height: float, class_: str) -> Markup:
    """Many thin upright strokes as one path; those on one half pixel are one."""
    drawn = sorted({round(x * 2) / 2 for x in places})
    path = "".join(f"M{x:g} {y:g}v{height:g}" for x in drawn)
    return tag("path", d=path, class_=class_) if path else Markup("")


def mark(shape: str, x: float, y: float, class_: str, title: str, size: float = 4) -> Markup:
    """A small mark around a point: circle, ring, diamond, triangle (down) or square."""
    inner = tag("title", title)
    if shape in ("circle", "ring"):
        return tag("circle", inner, cx=x, cy=y, r=size, class_=f"{class_} {shape}")
    corners = {
        "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
        "triangle": ((-1.2, -1), (1.2, -1), (0, 1.2)),
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    }[shape]
    points = " ".join(f"{x + dx * size:.1f},{y + dy * size:.1f}" for dx, dy in corners)
    return tag("polygon", inner, points=points, class_=class_)


def hatch(name: str) -> Markup:
    """A definition of diagonal hatching, to fill with ``url(#name)``."""
    return join(
        Markup(
            f'<svg width="0" height="0" class="defs" aria-hidden="true"><defs><pattern '
            f'id="{escaped(name)}" width="4" height="4" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="4" height="4" class="hatch-ground"/>'
            f'<rect width="1.6" height="4" class="hatch-line"/></pattern></defs></svg>'
        )
    )
