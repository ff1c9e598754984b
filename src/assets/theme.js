// Sets the theme before anything is drawn: the address's, else the one chosen here last, else the system's.
(() => {
  "use strict";
  const known = ["light", "dark"];
  let kept = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    // A browser may forbid to keep anything.
  }
  const asked = new URLSearchParams(location.search).get("theme");
  const theme = [asked, kept].find((name) => known.includes(name));
  if (theme) document.documentElement.dataset.theme = theme;
})();
