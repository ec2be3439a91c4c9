"""Lines over logarithmic axes, as SVG."""

import math
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
COLOURS = ["#1f5fa8", "#8fb4dc", "#b5471b", "#e3a98c"]


def decades(values):
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def label(power):
    if power >= 3:
        return f"{10 ** power:,}"
    return f"{10 ** power:g}"


def plot(title, x_name, y_name, series):
    x_low, x_high = decades([x for _, points in series for x, _ in points])
    y_low, y_high = decades([y for _, points in series for _, y in points])

    def place_x(x):
        return LEFT + (math.log10(x) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def place_y(y):
        return HEIGHT - BOTTOM - (math.log10(y) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="14">{escape(title)}</text>',
    ]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for power in range(x_low, x_high + 1):
        x = place_x(10**power)
        out.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label(power)}</text>')
    for power in range(y_low, y_high + 1):
        y = place_y(10**power)
        out.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label(power)}</text>')
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_name)}</text>')
    out.append(f'<text x="14" y="{TOP - 8}">{escape(y_name)}</text>')

    ends = []
    for (name, points), colour in zip(series, COLOURS):
        path = "L".join(f"{place_x(x):.1f} {place_y(y):.1f}" for x, y in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in points:
            out.append(f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3" fill="{colour}"/>')
        ends.append([place_y(points[-1][1]), name, colour])
    # The names are beside the ends of their lines and do not overlap.
    ends.sort()
    for above, below in zip(ends, ends[1:]):
        below[0] = max(below[0], above[0] + 15)
    for y, name, colour in ends:
        out.append(f'<text x="{right + 8}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
