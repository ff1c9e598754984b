"""The pictures of the documentation."""

# So many steps in its line make a chart.
STEPS = 25
DRAWN = f"(document.querySelector('#plot .middle')?.getAttribute('d') ?? '').split('H').length > {STEPS}"
SPARKS = f"(document.querySelector('.spark polyline')?.getAttribute('points') ?? '').split(' ').length > {STEPS}"
# Each page's name, what it must have drawn, and how high it is taken where it is wide.
PAGES = (("compare", DRAWN, 900), ("admin", SPARKS, 740))
NARROW = (360, 780)


def take(run, folder):
    """Takes both pages, light and dark, wide and narrow."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ready, high in PAGES:
        for size, (width, height) in (("wide", (1280, high)), ("narrow", NARROW)):
            page = getattr(run, name)(width=width, height=height, theme="light", calm=True)
            page.until(ready, f"the {name} page has something to show", 120)
            for theme in ("light", "dark"):
                page.media(theme, calm=True)
                file = folder / f"{name}-{theme}-{size}.png"
                file.write_bytes(page.picture(height))
                print(f"     {file}: {file.stat().st_size // 1000} kB")
            page.close()
