"""The pictures of the documentation."""

# So many steps in its thick line make a chart.
STEPS = 25
DRAWN = f"(document.querySelector('#plot .middle')?.getAttribute('d') ?? '').split('H').length > {STEPS}"
WIDE = (1280, 900)
NARROW = (360, 780)


def take(run, folder):
    """Takes both pages, light and dark, wide and narrow."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, open_page, ready in (("compare", run.compare, DRAWN), ("admin", run.admin, "document.querySelectorAll('.spark polyline[points*=\" \"]').length > 0")):
        for size, (width, height) in (("wide", WIDE), ("narrow", NARROW)):
            page = open_page(width=width, height=height, theme="light", calm=True)
            page.until(ready, f"the {name} page has something to show", 120)
            for theme in ("light", "dark"):
                page.media(theme, calm=True)
                file = folder / f"{name}-{theme}-{size}.png"
                file.write_bytes(page.picture(height))
                print(f"     {file}: {file.stat().st_size // 1000} kB")
            page.close()
